// All measures of both lists, their arithmetic and other tools' values. The report's module computes cumulated gain.
import type { Report } from "../decode.ts";
import { type Cumulated, divisors, eachIdealLevel, isDiscounted, isNormalised, levelOrder, Live } from "../measures.ts";
import { hasBase } from "../views/controls.ts";
import {
  type Gain,
  gainsOf,
  gainText,
  type Grade,
  gradesOf,
  isCumulated,
  type Name,
  NAMES,
  SIDES,
  type Side,
  type State,
} from "./state.ts";
import tools from "./tools.json";

/** A column of the arithmetic, by rank; null is an empty cell. */
export interface Column {
  name: string;
  values: (number | null)[];
}

/** One measure of one list, with its arithmetic. */
export interface Worked {
  columns: Column[];
  /** The contribution of each rank to the sum. */
  adds: number[];
  /** The measure at every cutoff. */
  curve: number[];
  value: number;
  /** Set if the measure is undefined: the reason. */
  undefined?: string;
}

/** The part of a measure that both lists share. */
export interface Shared {
  columns: Column[];
  ideal: number[] | null;
}

export interface Scores {
  /** The number of ranks with values. */
  depth: number;
  worked: Record<Name, [Worked, Worked]>;
  shared: Record<Name, Shared>;
}

/** The lists as systems of a report with one query. */
function reportOf(lists: Grade[][], pool: Grade[], scale: number, depth: number): Report {
  const levels = Array.from({ length: scale + 1 }, (_, level) => level);
  const grades = new Uint8Array(lists.length * depth);
  lists.forEach((list, s) =>
    list.slice(0, depth).forEach((grade, r) => (grades[s * depth + r] = grade === null ? 1 : grade + 2)),
  );
  return {
    systems: lists.map(String),
    queries: ["q"],
    levels,
    depth,
    grades,
    answered: new Uint8Array(lists.length).fill(1),
    poolAt: Uint32Array.of(0, levels.length),
    poolLevel: Uint16Array.from(levels),
    poolCount: Uint32Array.from(levels, (level) => pool.filter((grade) => grade === level).length),
    weights: null,
    missing: "zero",
    undefined: "zero",
    t: [],
    settings: { measure: "nDCG", discount: "burges2005", base: 2, depth, average: "ratios" },
    gains: levels,
  } as unknown as Report;
}

type Measured = { measure: Cumulated };
type Formula = Pick<State, "discount" | "base"> & { gain: Gain };

function liveOf(name: Cumulated, formula: Formula, report: Report): Live {
  const live = new Live(report);
  const { depth, levels } = report;
  const gains = gainsOf(formula.gain, levels.length - 1);
  live.update({ measure: name, discount: formula.discount, base: formula.base, depth, average: "ratios", gains });
  live.cumulate();
  return live;
}

const running = (terms: number[]): number[] => {
  let total = 0;
  return terms.map((term) => (total += term));
};

/** The gains of the ideal list. */
function idealGains(report: Report, gains: number[]): number[] {
  const found: number[] = [];
  const order = levelOrder(gains).filter((level) => gains[level]! > 0);
  eachIdealLevel(report, 0, order, report.depth, (level, from, to) => {
    for (let r = from; r < to; r++) found.push(gains[level]!);
  });
  return Array.from({ length: report.depth }, (_, r) => found[r] ?? 0);
}

const NOTHING = "no document has a gain above 0, so there is nothing to divide by and the score is 0";

function cumulated(
  name: Cumulated,
  state: State,
  report: Report,
  lists: Grade[][],
  k: number,
): [[Worked, Worked], Shared] {
  const live = liveOf(name, state, report);
  const total = name.replace("n", "");
  const { depth } = report;
  const gains = gainsOf(state.gain, state.scale);
  const by = [...divisors(live.choice, depth)];
  const isByRank = isDiscounted({ measure: name }) && state.discount !== "none";
  const ideal = idealGains(report, gains);
  const idealSums = running(ideal.map((gain, r) => gain / by[r]!));
  const worked = lists.map((list, s): Worked => {
    const own = Array.from({ length: depth }, (_, r) => gains[list[r] ?? -1] ?? 0);
    const adds = own.map((gain, r) => gain / by[r]!);
    const curve = [...live.curves.subarray(s * depth, (s + 1) * depth)];
    return {
      columns: [
        { name: "gain", values: own },
        ...(isByRank ? [{ name: "gain/discount", values: adds }] : []),
        { name: total, values: running(adds) },
        ...(isNormalised({ measure: name }) ? [{ name, values: curve }] : []),
      ],
      adds,
      curve,
      value: curve[k - 1] ?? 0,
      ...(isNormalised({ measure: name }) && !(idealSums[0]! > 0) && { undefined: NOTHING }),
    };
  });
  const shared = {
    columns: [
      ...(isByRank ? [{ name: "discount", values: by }] : []),
      ...(isNormalised({ measure: name })
        ? [
            { name: "ideal gain", values: ideal },
            { name: `ideal ${total}`, values: idealSums },
          ]
        : []),
    ],
    ideal: isNormalised({ measure: name }) ? ideal.map(() => 1) : idealSums,
  };
  return [worked as [Worked, Worked], shared];
}

function averagePrecision(list: Grade[], relevantInAll: number, depth: number, k: number): Worked {
  const relevant = Array.from({ length: depth }, (_, r) => Number((list[r] ?? 0) > 0));
  const found = running(relevant);
  const precision = found.map((count, r) => (relevant[r] ? count / (r + 1) : null));
  const adds = precision.map((value) => value ?? 0);
  const sums = running(adds);
  const curve = sums.map((sum) => (relevantInAll ? sum / relevantInAll : 0));
  return {
    columns: [
      { name: "relevant", values: relevant },
      { name: "found", values: found },
      { name: "precision", values: precision },
      { name: "sum", values: sums },
    ],
    adds,
    curve,
    value: curve[k - 1] ?? 0,
    ...(!relevantInAll && { undefined: "nothing is relevant, so there is nothing to divide by and the score is 0" }),
  };
}

function reciprocalRank(list: Grade[], depth: number, k: number): Worked {
  const relevant = Array.from({ length: depth }, (_, r) => Number((list[r] ?? 0) > 0));
  const first = relevant.indexOf(1);
  const curve = relevant.map((_, r) => (first >= 0 && r >= first ? 1 / (first + 1) : 0));
  return {
    columns: [
      { name: "relevant", values: relevant },
      { name: "found", values: running(relevant) },
    ],
    adds: relevant.map((_, r) => (r === first ? 1 / (r + 1) : 0)),
    curve,
    value: curve[k - 1] ?? 0,
  };
}

/** ERR: a user stops at a document with probability gain / (1 + highest gain), where gain is 2^grade - 1. */
function expectedReciprocalRank(list: Grade[], scale: number, depth: number, k: number): Worked {
  const gains = gainsOf("exp2", scale);
  const own = Array.from({ length: depth }, (_, r) => gains[list[r] ?? -1] ?? 0);
  const stops = own.map((gain) => gain / (1 + gains[scale]!));
  let left = 1;
  const reached = stops.map((stop) => {
    const before = left;
    left *= 1 - stop;
    return before;
  });
  const adds = stops.map((stop, r) => (stop * reached[r]!) / (r + 1));
  const curve = running(adds);
  return {
    columns: [
      { name: "gain", values: own },
      { name: "stops", values: stops },
      { name: "reached", values: reached },
      { name: "adds", values: adds },
      { name: "ERR", values: curve },
    ],
    adds,
    curve,
    value: curve[k - 1] ?? 0,
  };
}

/** The rank after which no measure changes. */
function depthOf({ k, lists, grades }: State): number {
  const judged = [...grades.values()].filter((grade) => grade !== null).length;
  return Math.max(1, k ?? 0, ...lists.map((list) => list.length), judged);
}

/** Every measure of both lists. */
export function scoresOf(state: State): Scores {
  const lists = state.lists.map((list) => gradesOf(state, list));
  const pool = [...state.grades.values()];
  const depth = depthOf(state);
  const k = state.k ?? depth;
  const report = reportOf(lists, pool, state.scale, depth);
  const relevant = pool.filter((grade) => (grade ?? 0) > 0).length;
  const found = { depth, worked: {}, shared: {} } as Scores;
  for (const name of NAMES) {
    if (isCumulated(name)) {
      [found.worked[name], found.shared[name]] = cumulated(name, state, report, lists, k);
      continue;
    }
    const of = (side: Side): Worked => {
      const list = lists[side]!;
      if (name === "AP") return averagePrecision(list, relevant, depth, k);
      return name === "RR" ? reciprocalRank(list, depth, k) : expectedReciprocalRank(list, state.scale, depth, k);
    };
    found.worked[name] = [of(0), of(1)];
    found.shared[name] = { columns: [], ideal: null };
  }
  return found;
}

/** The conventions that affect a measure of one list, by dimension. */
export type Conventions = Record<string, string>;

/** The tools and papers that give the same values for the same reasons. */
export interface Others {
  tools: string[];
  values: [number, number];
  /** Their departures from the settings, in words. */
  different: string[];
}

/** The conventions of the settings. */
function conventionsOf(state: State): Conventions {
  const { measure, discount, base } = state;
  if (measure === "AP") return { divisor: tools.measures.AP.divisor, undefined: "zero" };
  if (!isCumulated(measure)) return { undefined: "zero" };
  const found: Conventions = { gain: gainText(state.gain) };
  if (isNormalised(state as Measured)) Object.assign(found, { ideal: "judged", undefined: "zero" });
  // The base of log_b(j + 1) cancels out of normalised measures.
  const isBased = hasBase(discount) && !(discount === "burges2005" && isNormalised(state as Measured));
  if (isDiscounted(state as Measured)) found.discount = isBased ? `${discount} base ${base}` : discount;
  return found;
}

/** A list's score under the given conventions; NaN if the query would be left out. */
function scoreUnder(conventions: Conventions, state: State, side: Side): number {
  const list = gradesOf(state, state.lists[side]);
  const pool = [...state.grades.values()];
  const { measure, scale } = state;
  const depth = depthOf(state);
  const k = state.k ?? depth;
  const nothing = { zero: 0, one: 1, skip: NaN }[conventions.undefined ?? "zero"]!;
  if (measure === "RR") return reciprocalRank(list, depth, k).value;
  if (measure === "ERR") return expectedReciprocalRank(list, scale, depth, k).value;
  if (measure === "AP") {
    const count = (grades: Grade[]): number => grades.filter((grade) => (grade ?? 0) > 0).length;
    const relevant = count(pool);
    const by =
      { retrieved: count(list.slice(0, k)), capped: Math.min(relevant, k), k }[conventions.divisor!] ?? relevant;
    return relevant && by ? (averagePrecision(list, relevant, depth, k).columns[3]!.values[k - 1] ?? 0) / by : nothing;
  }
  const [discount, base = "2"] = (conventions.discount ?? "none").split(" base ");
  const given = gainText(state.gain);
  const gain = conventions.gain === given ? state.gain : (conventions.gain as Gain);
  const formula = { gain, discount: discount!, base: base === "e" ? base : Number(base) } as Formula;
  const judged = conventions.ideal === "retrieved" ? list : conventions.ideal === "shown" ? list.slice(0, k) : pool;
  const report = reportOf([list], judged, scale, depth);
  if (conventions.ideal !== "uncut" && conventions.ideal !== "highest") {
    const live = liveOf(measure as Cumulated, formula, report);
    return isNormalised(state as Measured) && !(live.ideals[0]! > 0) ? nothing : live.curves[k - 1]!;
  }
  const total = liveOf(measure.replace("n", "") as Cumulated, formula, report);
  const highest = Math.max(...gainsOf(gain, scale));
  const ideal =
    conventions.ideal === "uncut"
      ? total.ideals[depth - 1]!
      : sum([...total.divisors.subarray(0, k)].map((by) => highest / by));
  return ideal > 0 ? total.curves[k - 1]! / ideal : nothing;
}

const sum = (terms: number[]): number => terms.reduce((one, other) => one + other, 0);

/** The conventions of a tool; the settings decide the dimensions that it leaves open. */
function adopted(values: Record<string, string[] | undefined>, set: Conventions, state: State): Conventions {
  return Object.fromEntries(
    Object.entries(set).map(([name, value]) => {
      const allowed = values[name];
      if (!allowed || allowed.includes(value)) return [name, value];
      // Discounts include their base unless it cancels out.
      const isPossible = (each: string): boolean =>
        isNormalised(state as Measured) || / base /.test(each) || !hasBase(each);
      return [name, name === "discount" ? allowed.find(isPossible)! : allowed[0]!];
    }),
  );
}

export function othersOf(state: State): Others[] {
  const { measure } = state;
  const text = state.k === null ? measure : `${measure}@k`;
  const found = tools.tools.filter((tool) => tool.measures.includes(text));
  if (!found.length) return [];
  const set = conventionsOf(state);
  const known = new Map<string, [number, number]>();
  const scores = (conventions: Conventions): [number, number] => {
    const key = Object.values(conventions).join("|");
    if (!known.has(key)) known.set(key, SIDES.map((side) => scoreUnder(conventions, state, side)) as [number, number]);
    return known.get(key)!;
  };
  const isSame = (one: number[], other: number[]): boolean =>
    one.every((value, i) => Object.is(value, other[i]) || Math.abs(value - other[i]!) < 1e-12);
  const groups = new Map<string, Others>();
  for (const { name, values } of [{ name: "gainful", values: {} }, ...found]) {
    const divisor = [tools.measures[measure].divisor];
    const own = adopted({ divisor, ...(values as Record<string, string[]>) }, set, state);
    const wanted = scores(own);
    // Drop departures that make no difference here: keep the smallest set with the same values.
    const departed = Object.keys(set).filter((each) => own[each] !== set[each]);
    const subsets = Array.from({ length: 1 << departed.length }, (_, bits) =>
      departed.filter((_, i) => bits & (1 << i)),
    );
    const needed = subsets
      .sort((one, other) => one.length - other.length)
      .find((each) => isSame(scores({ ...set, ...Object.fromEntries(each.map((key) => [key, own[key]!])) }), wanted))!;
    const words = tools.words as Record<string, Record<string, string>>;
    const different = needed.map((each) => words[each]![own[each]!]!);
    const group = groups.get(different.join()) ?? { tools: [], values: wanted, different };
    group.tools.push(name);
    groups.set(different.join(), group);
  }
  return [...groups.values()];
}
