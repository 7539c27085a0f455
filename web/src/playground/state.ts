// The state: documents, two rankings of them, and the measure's parameters. The address holds all of it.
import { isDiscounted, type Cumulated } from "../measures.ts";
import { plain } from "../dom.ts";
import { readBase } from "../state.ts";
import { hasBase } from "../views/controls.ts";
import tools from "./tools.json";

export type Name = Cumulated | "AP" | "RR" | "ERR";
export const NAMES = Object.keys(tools.measures) as Name[];
/** A document's grade; null is unjudged. */
export type Grade = number | null;
/** The name of a gain map, or the gains of grades 0, 1, 2, ... */
export type Gain = "linear" | "exp2" | "binary" | number[];
export type Side = 0 | 1;
export const SIDES = [0, 1] as const;

export interface State {
  /** The grade of every document by its letter. */
  grades: ReadonlyMap<string, Grade>;
  /** The retrieved documents of both lists, best ranked first. */
  lists: readonly [readonly string[], readonly string[]];
  measure: Name;
  gain: Gain;
  discount: string;
  base: number | "e";
  /** The cutoff; null is none. */
  k: number | null;
  /** The highest possible grade. */
  scale: number;
}

export type Patch = Partial<State>;

export const LETTERS = "abcdefghijklmnopqrstuvwxyz";
export const HIGHEST = 9;

/** The example of Järvelin and Kekäläinen (2002), and the same documents in another order. */
export const START: State = {
  grades: new Map([3, 2, 3, 0, 0, 1, 2, 2, 3, 0, 1, 1, 1].map((grade, i) => [LETTERS[i]!, grade])),
  lists: [[..."abcdefghij"], [..."bcfgahdije"]],
  measure: "nDCG",
  gain: "linear",
  discount: "burges2005",
  base: 2,
  k: 10,
  scale: 3,
};

export const missed = (state: State, side: Side): string[] =>
  [...state.grades.keys()].filter((id) => !state.lists[side].includes(id)).sort();

/** The grades of a list in its order. */
export const gradesOf = (state: State, ids: readonly string[]): Grade[] => ids.map((id) => state.grades.get(id)!);

/** The gains of grades 0, 1, 2, ... */
export function gainsOf(gain: Gain, scale: number): number[] {
  const grades = Array.from({ length: scale + 1 }, (_, grade) => grade);
  if (typeof gain !== "string") return grades.map((grade) => gain[grade] ?? 0);
  return grades.map((grade) => (gain === "linear" ? grade : gain === "exp2" ? 2 ** grade - 1 : Math.min(grade, 1)));
}

export const gainText = (gain: Gain): string => (typeof gain === "string" ? gain : gain.map(plain).join("-"));

/** A measure as gainful writes it, without default parameters. */
export function measureText(state: State, name = state.measure): string {
  const parts: string[] = [];
  if (isCumulated(name)) {
    if (state.gain !== "linear") parts.push(`gain=${gainText(state.gain)}`);
    if (isDiscounted({ measure: name })) {
      if (state.discount !== "burges2005") parts.push(`discount=${state.discount}`);
      if (hasBase(state.discount) && state.base !== 2) parts.push(`base=${state.base}`);
    }
  }
  return `${name}${parts.length ? `(${parts.join(", ")})` : ""}${at(state)}`;
}

export const at = ({ k }: State): string => (k === null ? "" : `@${k}`);
export const isCumulated = (name: Name): name is Cumulated => /CG$/.test(name);

/** The command that prints the arithmetic of a list. */
export function command(state: State, side: Side): string {
  const list = gradesOf(state, state.lists[side]);
  const others = gradesOf(state, missed(state, side)).filter((grade) => grade !== null);
  const text = (grades: Grade[]): string => grades.map((grade) => grade ?? "-").join();
  const highest = Math.max(0, ...[...list, ...others].map((grade) => grade ?? 0));
  const name = measureText(state);
  return [
    `gainful explain ${/[(]/.test(name) ? `'${name}'` : name} --grades ${text(list)}`,
    others.length && `--unretrieved ${text(others)}`,
    highest < state.scale && `--scale ${state.scale}`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** The address of a state. Defaults are included, so that a link keeps its meaning if defaults change. */
export function toHash(state: State): string {
  return [
    `docs=${[...state.grades].map(([id, grade]) => `${id}${grade ?? "-"}`).join("")}`,
    ...state.lists.map((list, side) => `list${side + 1}=${list.join("")}`),
    `measure=${state.measure}`,
    `gain=${gainText(state.gain)}`,
    `discount=${state.discount}`,
    `base=${state.base}`,
    `k=${state.k ?? "all"}`,
    `scale=${state.scale}`,
  ].join("&");
}

/** Read a state from an address; invalid parts get their initial values. */
export function fromHash(hash: string): State {
  const found = new Map([...new URLSearchParams(hash.replace(/^#/, ""))]);
  const text = (key: string): string => found.get(key) ?? "";
  const state = { ...START };
  if (/^([a-z][0-9-])+$/.test(text("docs"))) {
    const pairs = text("docs")
      .match(/../g)!
      .map((pair): [string, Grade] => [pair[0]!, pair[1] === "-" ? null : +pair[1]!]);
    state.grades = new Map(pairs);
  }
  const list = (side: Side): string[] => {
    const given = [...text(`list${side + 1}`)];
    const isRead = found.has(`list${side + 1}`) && new Set(given).size === given.length;
    if (isRead && given.every((id) => state.grades.has(id))) return given;
    return START.lists[side].filter((id) => state.grades.has(id));
  };
  state.lists = [list(0), list(1)];
  const scale = Number(text("scale") || START.scale);
  const highest = Math.max(1, ...[...state.grades.values()].map((grade) => grade ?? 0));
  state.scale = Math.max(highest, Number.isInteger(scale) && scale >= 1 && scale <= HIGHEST ? scale : START.scale);
  state.measure = NAMES.find((name) => name === text("measure")) ?? START.measure;
  state.discount = text("discount") in tools.discounts ? text("discount") : START.discount;
  state.base = readBase(text("base")) ?? START.base;
  const k = Number(text("k"));
  state.k = text("k") === "all" ? null : Number.isInteger(k) && k >= 1 && k <= LETTERS.length ? k : START.k;
  const weights = text("gain").split("-").map(Number);
  if (["linear", "exp2", "binary"].includes(text("gain"))) state.gain = text("gain") as Gain;
  else if (weights.length === state.scale + 1 && weights.every((gain) => gain >= 0 && gain <= 1e6))
    state.gain = weights;
  return state;
}

/** Move a document to another place in a list; place null removes it from the list. */
export function placed(state: State, side: Side, id: string, place: number | null): Patch {
  const list = state.lists[side].filter((each) => each !== id);
  if (place !== null) list.splice(place, 0, id);
  return { lists: side ? [state.lists[0], list] : [list, state.lists[1]] };
}

/** Change a document's grade; a grade above the scale raises the scale. */
export function graded(state: State, id: string, grade: Grade): Patch {
  const scale = Math.max(state.scale, grade ?? 0);
  return { grades: new Map(state.grades).set(id, grade), ...scaled(state, scale) };
}

export function scaled(state: State, scale: number): Patch {
  const gain =
    typeof state.gain === "string"
      ? state.gain
      : Array.from({ length: scale + 1 }, (_, grade) => (state.gain as number[])[grade] ?? grade);
  return { scale, gain };
}
