// Who is best under other gains and discounts: every setting of a grid, from sums that gains only multiply.
import type { Report } from "./decode.ts";
import { type Choice, divisor, eachIdealLevel, isDiscounted, isNormalised, levelOrder } from "./measures.ts";

export interface Setting {
  discount: string;
  base: number | "e";
}

/** From users who stop early to users who read everything. */
export const DISCOUNT_ROWS: Setting[] = [
  { discount: "rank", base: 2 },
  { discount: "jarvelin2008", base: 2 },
  { discount: "jarvelin2002", base: 2 },
  { discount: "burges2005", base: 2 },
  { discount: "jarvelin2002", base: 3 },
  { discount: "jarvelin2002", base: 4 },
  { discount: "jarvelin2002", base: 6 },
  { discount: "jarvelin2002", base: 10 },
  { discount: "jarvelin2002", base: 20 },
  { discount: "none", base: 2 },
];

const RATIOS = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12.5, 15, 20, 25, 30, 40, 50, 70, 100];

/** What the map is drawn over: rows of discounts, columns of gains, or of depths where there is one grade to gain from. */
export interface Grid {
  rows: Setting[];
  columns: number[];
  kind: "ratio" | "depth";
  /** Means of systems: rows × columns × systems. */
  means: Float64Array;
}

/** Levels that can gain, ascending. */
export const gaining = (report: Report): number[] =>
  report.levels.flatMap((level, i) => (level > 0 ? [i] : []));

/** The gains with the highest one so many times the lowest; those between keep their places between the two. */
export function gainsAt(report: Report, gains: readonly number[], ratio: number): number[] {
  const levels = gaining(report);
  const [first, last] = [levels[0]!, levels.at(-1)!];
  const low = gains[first]! > 0 ? gains[first]! : 1;
  const high = gains[last]!;
  const place = (level: number): number => {
    if (high > low && gains[first]! > 0) return (gains[level]! - low) / (high - low);
    return (report.levels[level]! - report.levels[first]!) / (report.levels[last]! - report.levels[first]! || 1);
  };
  return gains.map((gain, level) => (levels.includes(level) ? low * (1 + Math.max(0, place(level)) * (ratio - 1)) : gain));
}

/** What of the controls decides the map: gains that differ only in what the map varies give the same one. */
export function mapKey(report: Report, choice: Choice): string {
  const levels = gaining(report);
  const zero = report.levels.flatMap((level, i) => (level > 0 ? [] : [choice.gains[i]]));
  const shape = gainsAt(report, choice.gains, 2);
  const relative = levels.map((level) => (shape[level]! / shape[levels[0]!]!).toFixed(9));
  const isListed = DISCOUNT_ROWS.some((row) => row.discount === choice.discount && row.base === choice.base);
  return [isNormalised(choice), isDiscounted(choice), choice.average, levels.length > 1 && choice.depth, zero, relative, isListed || `${choice.discount} ${choice.base}`].join("|");
}

export function sensitivity(report: Report, choice: Choice): Grid {
  const kind = gaining(report).length > 1 ? "ratio" : "depth";
  const isOwn = !DISCOUNT_ROWS.some((row) => row.discount === choice.discount && row.base === choice.base);
  const rows = isDiscounted(choice) ? [...DISCOUNT_ROWS, ...(isOwn ? [{ discount: choice.discount, base: choice.base }] : [])] : [{ discount: "none", base: 2 } as Setting];
  const depths = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000].filter((k) => k < report.depth);
  const columns = kind === "ratio" ? RATIOS : [...depths, report.depth];
  const [systems, queries, levels] = [report.systems.length, report.queries.length, report.levels.length];
  const means = new Float64Array(rows.length * columns.length * systems);
  const sums = new Float64Array(systems * queries * levels);
  const ideals = new Float64Array(queries * levels);
  const best = new Float64Array(queries);
  rows.forEach((row, i) => {
    let before = -1;
    columns.forEach((column, j) => {
      const depth = kind === "ratio" ? choice.depth : column;
      const gains = kind === "ratio" ? gainsAt(report, choice.gains, column) : choice.gains;
      if (depth !== before) {
        addDiscounts(report, row, depth, sums);
        before = depth;
      }
      const order = levelOrder(gains).filter((level) => gains[level]! > 0);
      addIdeals(report, row, depth, order, ideals);
      best.fill(0);
      for (let q = 0; q < queries; q++) for (let l = 0; l < levels; l++) best[q]! += gains[l]! * ideals[q * levels + l]!;
      const at = (i * columns.length + j) * systems;
      for (let s = 0; s < systems; s++) means[at + s] = average(report, choice, gains, sums, best, s);
    });
  });
  return { rows, columns, kind, means };
}

/** For every list and level the sum of 1 / divisor over the ranks at which the level stands. */
function addDiscounts(report: Report, row: Setting, depth: number, sums: Float64Array): void {
  const levels = report.levels.length;
  const weights = Float64Array.from({ length: depth }, (_, r) => 1 / divisor(row.discount, row.base, r + 1));
  const lists = report.systems.length * report.queries.length;
  sums.fill(0);
  for (let list = 0; list < lists; list++) {
    const cell = list * report.depth;
    for (let r = 0; r < depth; r++) {
      const code = report.grades[cell + r]!;
      if (code > 1) sums[list * levels + code - 2]! += weights[r]!;
      else if (code === 0) break;
    }
  }
}

function addIdeals(report: Report, row: Setting, depth: number, order: number[], ideals: Float64Array): void {
  const levels = report.levels.length;
  const sums = new Float64Array(depth + 1);
  for (let r = 0; r < depth; r++) sums[r + 1] = sums[r]! + 1 / divisor(row.discount, row.base, r + 1);
  ideals.fill(0);
  for (let q = 0; q < report.queries.length; q++) {
    eachIdealLevel(report, q, order, depth, (level, from, to) => {
      ideals[q * levels + level] = sums[to]! - sums[from]!;
    });
  }
}

function average(report: Report, choice: Choice, gains: readonly number[], sums: Float64Array, best: Float64Array, s: number): number {
  const levels = report.levels.length;
  const queries = report.queries.length;
  const normalised = isNormalised(choice);
  const asRatios = normalised && choice.average === "ratios";
  let [above, below] = [0, 0];
  for (let q = 0; q < queries; q++) {
    const weight = report.weights ? report.weights[q]! : 1;
    const list = s * queries + q;
    if (!report.answered[list] && report.missing === "skip") continue;
    let value = 0;
    for (let l = 0; l < levels; l++) value += gains[l]! * sums[list * levels + l]!;
    if (asRatios) {
      if (best[q]! > 0) value /= best[q]!;
      else if (report.undefined === "skip" && report.answered[list]) continue;
    }
    above += weight * value;
    below += normalised && !asRatios ? weight * best[q]! : weight;
  }
  return above / below;
}
