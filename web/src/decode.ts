// The data of the page: JSON and typed arrays in one compressed block.
import { gunzipSync } from "fflate";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

export interface Settings {
  measure: "CG" | "DCG" | "nCG" | "nDCG" | "sDCG" | "nsDCG";
  discount: string;
  base: number | "e";
  depth: number;
  average: "ratios" | "means";
  /** The base of the discount by a query's position in its session. */
  queryBase?: number | "e";
}

export interface Measure {
  name: string;
  means: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  marks?: (string | null)[];
  ranks?: ([number, number] | null)[];
  higherIsBetter?: boolean;
  /** The means that are possible if unjudged documents have any grades. */
  bounds?: Record<"lowest" | "highest", (number | null)[]>;
  /** The parts of 1 - mean, from better orders to documents that are not retrieved. */
  loss?: Record<string, (number | null)[]>;
}

export interface Pairs {
  measure: number;
  test: string;
  correction: string | null;
  alpha?: number;
  p: (number | null)[];
  adjusted?: (number | null)[];
  difference: (number | null)[];
}

export interface RecallLevel {
  level: number;
  points: number[];
  precision: (number | null)[][];
}

/** Systems that return nothing where their top score is low. Rows are of a threshold (null: none), and the share of
 * answered queries, of false answers, of answers that are false, and the gain kept, each with its interval. */
export interface Abstention {
  measure: string;
  level: number;
  area: (number | null)[][];
  rows: (number | null)[][][];
  /** The row of the lowest threshold with the guarantee; null if there is none. */
  lowest: ((number | null)[] | null)[];
}

interface Header {
  version: number;
  systems: string[];
  baseline: number | null;
  /** The two systems that are compared first: the baseline or the second best, and the best. */
  pair: [number, number];
  queries: string[];
  texts?: (string | null)[];
  segments?: Record<string, (string | number | null)[]>;
  depth: number;
  levels: number[];
  gains: number[];
  settings: Settings;
  missing: "zero" | "skip";
  undefined: "zero" | "skip";
  /** By system: half-width of the 95% interval of its mean, in standard errors. */
  t: (number | null)[];
  measures: Measure[];
  /** Which of the measures decides, and which one the controls start with, if they do. */
  first: number;
  live: number | null;
  pairs?: Pairs[];
  judged?: { k: number[]; share: (number | null)[][]; tells: boolean };
  recall?: RecallLevel[];
  abstention?: Abstention | null;
  /** On pages about sessions: their IDs by system, and the queries of the longest. */
  mode?: "sessions";
  sessions?: string[][];
  queriesMost?: number;
}

/** Everything that is decoded before a query is opened. */
export interface Report extends Header {
  /** Systems × queries × ranks: 0 after the list's end, 1 unjudged, 2 + i the level i. */
  grades: Uint8Array | Uint16Array;
  answered: Uint8Array;
  poolAt: Uint32Array;
  poolLevel: Uint16Array;
  poolCount: Uint32Array;
  weights: Float64Array | null;
  numbers(name: string): Numbers | null;
}

/** Documents by rank, decoded on first use. */
export interface Documents {
  depth: number;
  note?: string;
  ids: string[][];
  titles?: Record<string, string>;
  /** Systems × queries × ranks: 0 none, else 1 + the index among the query's IDs. */
  docs: Uint32Array;
  poolDocAt: Uint32Array;
  poolDoc: Uint32Array;
  poolDocLevel: Uint16Array;
}

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

function bytesOf(base64: string): Uint8Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function unpacked(element: string): { json: any; numbers: (name: string) => any } | null {
  const node = document.getElementById(element);
  const text = node?.textContent?.trim();
  if (!text) return null;
  const { buffer } = gunzipSync(bytesOf(text)); // at once: a page may be printed as soon as it is loaded
  node!.remove(); // it is read only once
  const length = new DataView(buffer).getUint32(0, true);
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const arrays = json.arrays as Record<string, { type: keyof typeof TYPES; at: number; length: number }>;
  const numbers = (name: string): Numbers | null => {
    const found = arrays[name];
    return found ? new TYPES[found.type](buffer, 4 + length + found.at, found.length) : null;
  };
  return { json, numbers };
}

export function decodeReport(): Report {
  const found = unpacked("data");
  if (!found) throw new Error("the page carries no data");
  if (found.json.version !== 1) throw new Error(`data of version ${found.json.version}, expected 1`);
  const names = ["grades", "answered", "poolAt", "poolLevel", "poolCount", "weights"];
  if (found.json.mode === "sessions") {
    // Sessions have no ranked lists, so the fields that all views read are empty.
    Object.assign(found.json, { queries: [], depth: found.json.ranks, pair: [0, 0] });
    Object.assign(found.json.settings, { discount: "jarvelin2008", average: "ratios" });
  }
  return Object.assign(found.json, Object.fromEntries(names.map((name) => [name, found.numbers(name)])), {
    numbers: found.numbers,
  });
}

export function decodeDocuments(systems: number): Documents | null {
  const found = unpacked("documents");
  if (!found) return null;
  const names = ["poolDocAt", "poolDoc", "poolDocLevel"];
  const docs = places(
    found.numbers("docs"),
    found.numbers("docsHigh"),
    systems,
    found.json.ids.length,
    found.json.depth,
  );
  return Object.assign(found.json, { docs }, Object.fromEntries(names.map((name) => [name, found.numbers(name)])));
}

/** The document at each rank. Codes count back to the document's first occurrence, going rank by rank and, within a
 * rank, system by system: 0 is no document, 1 a new one. */
function places(low: Numbers, high: Numbers, systems: number, queries: number, depth: number): Uint32Array {
  const found = new Uint32Array(low.length);
  for (let q = 0; q < queries; q++) {
    let met = 0;
    for (let r = 0; r < depth; r++) {
      for (let s = 0; s < systems; s++) {
        const at = (s * queries + q) * depth + r;
        const code = low[at]! + 256 * high[at]!;
        if (code === 1) found[at] = ++met;
        else if (code) found[at] = met + 2 - code;
      }
    }
  }
  return found;
}
