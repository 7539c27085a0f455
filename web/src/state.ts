// The reader's settings, stored in the address, so that a view can be linked and restored.
import type { Report, Settings } from "./decode.ts";

export interface State extends Settings {
  gains: number[];
  /** The two systems that the page compares, by index. */
  system: number;
  other: number;
  /** The column by which the leaderboard is sorted; "live" is the measure of the controls. */
  sort: string;
  rising: boolean;
  /** The open query; empty if none. */
  query: string;
  column: string;
  value: string;
  find: string;
  lost: number;
  order: string;
  up: boolean;
  map: "best" | "pair";
  zoom: boolean;
  queryBase: number | "e";
}

export type Patch = Partial<State>;

const CONTROLS = ["measure", "discount", "base", "depth", "average", "gains", "queryBase"] as const;

/** The part that determines the numbers: the controls. */
export const controlsOf = (state: State): Pick<State, (typeof CONTROLS)[number]> =>
  Object.fromEntries(CONTROLS.map((key) => [key, state[key]])) as Pick<State, (typeof CONTROLS)[number]>;

/** Whether two states have the same controls. */
export const haveSameControls = (one: State, other: State): boolean =>
  CONTROLS.every((key) => String(one[key]) === String(other[key]));

/** The fields of the state, by their names in the address. */
const KEYS = new Map<string, keyof State>(
  Object.entries({
    m: "measure",
    d: "discount",
    b: "base",
    k: "depth",
    avg: "average",
    g: "gains",
    s: "system",
    o: "other",
    sort: "sort",
    rising: "rising",
    q: "query",
    col: "column",
    val: "value",
    find: "find",
    lost: "lost",
    by: "order",
    up: "up",
    map: "map",
    zoom: "zoom",
    bq: "queryBase",
  }),
);

/** The depth at which the leaderboard shows judged shares, unless that is one of the measures. */
export function judgedAt(report: Report): number | undefined {
  const usual = report.judged?.k.find((k) => k >= 10) ?? report.judged?.k.at(-1);
  return report.measures.some((measure) => measure.name === `Judged@${usual}`) ? undefined : usual;
}

/** The valid values of keys with a few possible texts. */
function choicesOf(key: keyof State, report: Report): readonly string[] | null {
  switch (key) {
    case "measure":
      return measuresOf(report);
    case "discount":
      return ["burges2005", "jarvelin2002", "jarvelin2000", "jarvelin2008", "rank", "none"];
    case "average":
      return ["ratios", "means"];
    case "map":
      return ["best", "pair"];
    case "sort":
      return ["live", "name", `judged@${judgedAt(report)}`, ...report.measures.map((measure) => measure.name)];
    case "order":
      return report.sessions
        ? ["query", "length", ...report.systems.map((_, s) => `system${s}`)]
        : ["query", "system", "other", "difference"];
    case "column":
      return Object.keys(report.segments ?? {});
    case "query":
      return report.queries;
    default:
      return null;
  }
}

/** The measures that the page computes itself. */
export const measuresOf = (report: Report): State["measure"][] =>
  report.mode === "sessions" ? ["sDCG", "nsDCG"] : ["CG", "DCG", "nCG", "nDCG"];

export const readBase = (text: string): number | "e" | null => {
  const number = Number(text);
  return text.trim() === "e" ? "e" : text.trim() && Number.isFinite(number) && number > 1 ? number : null;
};

export function initial(report: Report): State {
  const first = report.measures[report.first]!;
  const isLive = report.first === report.live;
  return {
    ...report.settings,
    depth: Math.min(report.settings.depth, report.depth),
    gains: [...report.gains],
    system: report.pair[1],
    other: report.pair[0],
    sort: isLive ? "live" : first.name,
    rising: !isLive && first.higherIsBetter === false,
    query: "",
    column: "",
    value: "",
    find: "",
    lost: 0,
    order: report.sessions ? "query" : report.systems.length > 1 ? "difference" : "system",
    up: true,
    map: report.systems.length > 2 ? "best" : "pair",
    zoom: false,
    queryBase: report.settings.queryBase ?? 4,
  };
}

/** The value of a text in the address; null if it is invalid. */
function read(key: keyof State, text: string, start: State, report: Report): unknown {
  const usual = start[key];
  if (key === "gains") {
    const gains = text.split(",").map(Number);
    return gains.length === start.gains.length && gains.every((gain) => gain >= 0 && gain <= 1e12) ? gains : null;
  }
  if (key === "system" || key === "other") {
    const index = report.systems.indexOf(text);
    return index < 0 ? null : index;
  }
  if (key === "base" || key === "queryBase") return readBase(text);
  if (key === "depth") {
    const depth = Number(text);
    return Number.isInteger(depth) && depth >= 1 && depth <= report.depth ? depth : null;
  }
  if (typeof usual === "boolean") return text === "1";
  if (key === "lost") return Number(text) >= 0 && Number.isFinite(Number(text)) ? Number(text) : null;
  return choicesOf(key, report)?.includes(text) === false ? null : text;
}

export function fromHash(hash: string, report: Report): State {
  const start = initial(report);
  const state = { ...start };
  for (const [short, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const key = KEYS.get(short);
    const value = key && read(key, text, start, report);
    if (key && value !== null) Object.assign(state, { [key]: value });
  }
  // Inconsistent values are also dropped.
  if (state.system === state.other) [state.system, state.other] = [start.system, start.other];
  if (!state.column || !report.segments![state.column]!.some((each) => String(each ?? "") === state.value))
    state.value = "";
  return state;
}

/** Only the differences from the report's initial state. */
export function toHash(state: State, report: Report): string {
  const start = initial(report);
  const found = new URLSearchParams();
  for (const [short, key] of KEYS) {
    const value = state[key];
    if (String(value) === String(start[key])) continue;
    const isSystem = key === "system" || key === "other";
    found.set(
      short,
      isSystem ? report.systems[value as number]! : value === true ? "1" : value === false ? "0" : String(value),
    );
  }
  return found.toString();
}

/** The state and its listeners: at most one redraw per frame. */
export class Store {
  state: State;
  private waiting = 0;
  private addressing = 0;

  constructor(
    private readonly report: Report,
    private readonly draw: () => void,
  ) {
    this.state = fromHash(location.hash, report);
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === toHash(this.state, report) || !/=|^#?$/.test(location.hash)) return;
      this.state = fromHash(location.hash, report);
      this.redraw();
    });
  }

  set(patch: Patch): void {
    this.state = { ...this.state, ...patch };
    this.redraw();
    // Browsers limit the number of address changes per second.
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => this.address(), 150) as unknown as number;
  }

  address(): void {
    const hash = toHash(this.state, this.report);
    if (hash === location.hash.slice(1)) return;
    try {
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    } catch {
      // A page within a notebook has no address.
    }
  }

  redraw(): void {
    this.waiting ||= requestAnimationFrame(() => this.now());
  }

  /** Draws pending changes without waiting for the next frame. */
  now(): void {
    cancelAnimationFrame(this.waiting);
    this.waiting = 0;
    this.draw();
  }
}
