// The best system under other gains and discounts: all settings of a grid, from sums that are multiplied by gains.
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

const DEPTHS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000];
const RATIOS = [1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12.5, 15, 20, 25, 30, 40, 50, 70, 100];

/** The grid of the map: rows of discounts, columns of gains (of depths if only one grade has a gain). */
export interface Grid {
  rows: Setting[];
  columns: number[];
  kind: "ratio" | "depth";
  /** Means of systems: rows × columns × systems. */
  means: Float64Array;
}

/** Levels with gain in the report's initial state, ascending; if there are none, those that could have gain. */
export function gaining(report: Report): number[] {
  const found = report.gains.flatMap((gain, i) => (gain > 0 ? [i] : []));
  return found.length ? found : report.levels.flatMap((level, i) => (level > 0 ? [i] : []));
}

/** Gains in which the highest grade is a multiple of the lowest with gain; those between keep their relative
 * positions. */
export function gainsAt(report: Report, ratio: number): number[] {
  const levels = gaining(report);
  const [first, last] = [levels[0]!, levels.at(-1)!];
  const given = report.gains[first]! > 0 && report.gains[last]! > report.gains[first]! ? report.gains : report.levels;
  const low = report.gains[first]! > 0 ? report.gains[first]! : 1;
  const place = (level: number): number => (given[level]! - given[first]!) / (given[last]! - given[first]! || 1);
  return report.gains.map((gain, level) => (levels.includes(level) ? low * (1 + place(level) * (ratio - 1)) : gain));
}

/** The ratio of the highest to the lowest gain, if the map has such gains; null otherwise. For a normalised measure,
 * all gains may be multiplied by a constant. */
export function ratioOf(report: Report, choice: Choice): number | null {
  const levels = gaining(report);
  const ratio = choice.gains[levels.at(-1)!]! / choice.gains[levels[0]!]!;
  if (!Number.isFinite(ratio)) return null;
  const onMap = gainsAt(report, ratio);
  const factor = isNormalised(choice) ? choice.gains[levels[0]!]! / onMap[levels[0]!]! : 1;
  const isThere = choice.gains.every((gain, i) => Math.abs(gain - factor * onMap[i]!) <= 1e-9 * Math.abs(gain));
  return isThere ? ratio : null;
}

/** The controls that determine the map; gains do not, as the map varies them. */
export const mapKey = (report: Report, choice: Choice): string =>
  [
    choice.measure,
    choice.average,
    gaining(report).length > 1 ? choice.depth : choice.gains,
    ownRow(choice).length ? [choice.discount, choice.base] : "",
  ].join("|");

/** Whether a row of the map has the discount of the controls. */
export const hasDiscount = (row: Setting, choice: Choice): boolean =>
  row.discount === choice.discount && (row.base === choice.base || row.discount === "rank" || row.discount === "none");

const ownRow = (choice: Choice): Setting[] => {
  return DISCOUNT_ROWS.some((row) => hasDiscount(row, choice)) ? [] : [{ discount: choice.discount, base: choice.base }];
};

export function sensitivity(report: Report, choice: Choice): Grid {
  const kind = gaining(report).length > 1 ? "ratio" : "depth";
  const rows = isDiscounted(choice) ? [...DISCOUNT_ROWS, ...ownRow(choice)] : DISCOUNT_ROWS.slice(-1);
  const columns = kind === "ratio" ? RATIOS : [...DEPTHS.filter((k) => k < report.depth), report.depth];
  const means = new Float64Array(rows.length * columns.length * report.systems.length);
  const sums = new Sums(report);
  rows.forEach((row, i) => {
    columns.forEach((column, j) => {
      const gains = kind === "ratio" ? gainsAt(report, column) : choice.gains;
      if (kind === "depth" || j === 0) sums.discount(row, kind === "depth" ? column : choice.depth);
      sums.average(choice, gains, means, (i * columns.length + j) * report.systems.length);
    });
  });
  return { rows, columns, kind, means };
}

/** Sums over discounted ranks by level: a score is their product with the gains. */
class Sums {
  /** Levels × systems × queries: the sum of 1 / divisor over the ranks of the level in the list. */
  private readonly lists: Float64Array;
  private readonly parts: Float64Array;
  private ranks = new Float64Array(1); // sums of 1 / divisor to a rank

  constructor(private readonly report: Report) {
    this.lists = new Float64Array(report.levels.length * report.systems.length * report.queries.length);
    this.parts = new Float64Array(report.queries.length);
  }

  discount(row: Setting, depth: number): void {
    const { report, lists } = this;
    const size = report.systems.length * report.queries.length;
    this.ranks = new Float64Array(depth + 1);
    for (let r = 0; r < depth; r++) this.ranks[r + 1] = this.ranks[r]! + 1 / divisor(row.discount, row.base, r + 1);
    const worth = Float64Array.from({ length: depth }, (_, r) => 1 / divisor(row.discount, row.base, r + 1));
    lists.fill(0);
    for (let list = 0; list < size; list++) {
      const cell = list * report.depth;
      for (let r = 0; r < depth; r++) {
        const code = report.grades[cell + r]!;
        if (code > 1) lists[(code - 2) * size + list]! += worth[r]!;
        else if (code === 0) break;
      }
    }
  }

  /** Means of all systems. In a mean of ratios, queries have weight 1 / ideal, so per-query scores are not needed. */
  average(choice: Choice, gains: readonly number[], means: Float64Array, at: number): void {
    const { report, lists, parts } = this;
    const [systems, queries] = [report.systems.length, report.queries.length];
    const normalised = isNormalised(choice);
    const asRatios = normalised && choice.average === "ratios";
    const skips = report.missing === "skip";
    const order = levelOrder(gains).filter((level) => gains[level]! > 0);
    const wholes = new Float64Array(queries);
    for (let q = 0; q < queries; q++) {
      const weight = report.weights ? report.weights[q]! : 1;
      let best = 0;
      eachIdealLevel(report, q, order, this.ranks.length - 1, (level, from, to) => {
        best += gains[level]! * (this.ranks[to]! - this.ranks[from]!);
      });
      parts[q] = asRatios ? (best > 0 ? weight / best : 0) : weight;
      wholes[q] =
        normalised && !asRatios ? weight * best : asRatios && best === 0 && report.undefined === "skip" ? 0 : weight;
    }
    for (let s = 0; s < systems; s++) {
      let [above, below] = [0, 0];
      for (const level of order) {
        const from = (level * systems + s) * queries;
        let sum = 0;
        for (let q = 0; q < queries; q++) sum += lists[from + q]! * parts[q]!;
        above += gains[level]! * sum;
      }
      for (let q = 0; q < queries; q++) {
        const isThere = report.answered[s * queries + q];
        if (isThere) below += wholes[q]!;
        else if (!skips) below += normalised && !asRatios ? wholes[q]! : report.weights ? report.weights[q]! : 1;
      }
      means[at + s] = above / below;
    }
  }
}
