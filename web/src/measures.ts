// The cumulated-gain family, recomputed for other gains and discounts. No allocation within a step.
import type { Report, Settings } from "./decode.ts";

/** Settings of the controls, and the gain of each level of the judgments. */
export interface Choice extends Settings {
  gains: number[];
}

const logarithm = (base: number | "e"): ((value: number) => number) => {
  if (base === "e") return Math.log;
  if (base === 2) return Math.log2;
  if (base === 10) return Math.log10;
  const divisor = Math.log(base);
  return (value) => Math.log(value) / divisor;
};

/** The divisor of a gain at a rank, from 1. */
export function divisor(discount: string, base: number | "e", rank: number): number {
  const log = logarithm(base);
  switch (discount) {
    case "burges2005":
      return log(rank + 1);
    case "jarvelin2008":
      return 1 + log(rank);
    case "jarvelin2002":
      return rank < (base === "e" ? Math.E : base) ? 1 : log(rank);
    case "jarvelin2000":
      return rank < 2 ? 1 : log(rank);
    case "rank":
      return rank;
    default:
      return 1;
  }
}

/** The measures of this family on one list. */
export type Cumulated = "CG" | "DCG" | "nCG" | "nDCG";

export const isNormalised = (choice: Pick<Settings, "measure">): boolean => choice.measure.startsWith("n");
export const isDiscounted = (choice: Pick<Settings, "measure">): boolean => choice.measure.endsWith("DCG");

/** The divisors at ranks 1 to a depth: CG and nCG have none. */
export function divisors(choice: Settings, depth: number, into: Float64Array = new Float64Array(depth)): Float64Array {
  const discount = isDiscounted(choice) ? choice.discount : "none";
  for (let rank = 1; rank <= depth; rank++) into[rank - 1] = divisor(discount, choice.base, rank);
  return into;
}

/** Levels by decreasing gain; of equal gains, the higher level first. */
export const levelOrder = (gains: readonly number[]): number[] =>
  gains.map((_, level) => level).sort((a, b) => gains[b]! - gains[a]! || b - a);

/** The ideal list of a query: calls back with each level and its first and last rank (0-based), to a depth. */
export function eachIdealLevel(
  report: Report,
  query: number,
  order: readonly number[],
  depth: number,
  call: (level: number, from: number, to: number) => void,
): void {
  let rank = 0;
  const [first, last] = [report.poolAt[query]!, report.poolAt[query + 1]!];
  for (const level of order) {
    for (let i = first; i < last && rank < depth; i++) {
      if (report.poolLevel[i] !== level) continue;
      const to = Math.min(depth, rank + report.poolCount[i]!);
      call(level, rank, to);
      rank = to;
    }
  }
}

/** Queries that are added without compensation for rounding. */
const FEW = 32;

/** All results of the controls, in arrays that are reused at each step.
 *
 * Scores at the depth are always computed; curves to the last rank only on request. */
export class Live {
  /** Averages by system and rank, and the ends of their bands. */
  readonly curves: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Averages of cumulated gain, before normalisation. */
  readonly plain: Float64Array;
  /** The ideal of each query, and its average over all judged queries. */
  readonly ideals: Float64Array;
  readonly ideal: Float64Array;
  /** Systems × queries at the current depth; NaN if a query does not count. */
  readonly scores: Float64Array;
  /** The same averaged, and the ends of its interval. */
  readonly means: Float64Array;
  readonly meanLow: Float64Array;
  readonly meanHigh: Float64Array;
  readonly divisors: Float64Array;
  /** By system: length of its longest list, as far as lists are stored. */
  readonly longest: number[];
  choice: Choice;
  private readonly gainOf: Float64Array;
  private readonly worth: Float64Array;
  private readonly ones: Float64Array;
  private readonly sums: Float64Array[];
  private isWhole = false;

  constructor(private readonly report: Report) {
    const [s, q, d] = [report.systems.length, report.queries.length, report.depth];
    const codes = report.levels.length + 2;
    const made = (): Float64Array => new Float64Array(s * d);
    [this.curves, this.low, this.high, this.plain] = [made(), made(), made(), made()];
    this.ideals = new Float64Array(q * d);
    this.ideal = new Float64Array(d);
    this.scores = new Float64Array(s * q);
    [this.means, this.meanLow, this.meanHigh] = [new Float64Array(s), new Float64Array(s), new Float64Array(s)];
    this.divisors = new Float64Array(d);
    this.gainOf = new Float64Array(codes);
    this.worth = new Float64Array(d * codes);
    this.ones = new Float64Array(d).fill(1);
    this.sums = Array.from({ length: 7 }, () => new Float64Array(d));
    this.choice = { ...report.settings, gains: report.gains };
    this.longest = report.systems.map((_, system) => {
      let most = 0;
      for (let list = system * q; list < (system + 1) * q; list++)
        while (most < d && report.grades[list * d + most]) most++;
      return most;
    });
  }

  /** Computes scores at the depth and their averages for other controls. */
  update(choice: Choice): void {
    this.choice = choice;
    this.isWhole = false;
    const { report, worth, gainOf } = this;
    const depth = report.depth;
    divisors(choice, depth, this.divisors);
    gainOf.set(choice.gains, 2);
    for (let code = 0; code < gainOf.length; code++) {
      for (let r = 0; r < depth; r++) worth[code * depth + r] = gainOf[code]! / this.divisors[r]!;
    }
    this.cumulateIdeals(choice.depth);
    for (let s = 0; s < report.systems.length; s++) {
      this.score(s, choice.depth);
      if (!this.asMeans) this.averageScores(s);
    }
    if (this.asMeans) this.cumulate();
  }

  /** Computes the curves to the last rank, unless done for these controls. */
  cumulate(): void {
    if (this.isWhole) return;
    this.isWhole = true;
    const { report } = this;
    this.cumulateIdeals(report.depth);
    this.averageIdeals();
    for (let s = 0; s < report.systems.length; s++) {
      for (const sum of this.sums) sum.fill(0);
      if (this.asMeans) this.averageMeans(s);
      else this.averageValues(s);
    }
  }

  private get asMeans(): boolean {
    return isNormalised(this.choice) && this.choice.average === "means";
  }

  private cumulateIdeals(depth: number): void {
    const { report, worth, ideals } = this;
    const whole = report.depth;
    const order = levelOrder(this.choice.gains).filter((level) => this.choice.gains[level]! > 0);
    for (let q = 0; q < report.queries.length; q++) {
      const row = q * whole;
      let [total, end] = [0, 0];
      eachIdealLevel(report, q, order, depth, (level, from, to) => {
        for (let r = from; r < to; r++) ideals[row + r] = total += worth[(level + 2) * whole + r]!;
        end = to;
      });
      for (let r = end; r < depth; r++) ideals[row + r] = total;
    }
  }

  private averageIdeals(): void {
    const { report, ideals, ideal } = this;
    const depth = report.depth;
    const [sum, rest] = [this.sums[0]!.fill(0), this.sums[1]!.fill(0)];
    let whole = 0;
    for (let q = 0; q < report.queries.length; q++) {
      const weight = report.weights ? report.weights[q]! : 1;
      for (let r = 0; r < depth; r++) add(sum, rest, r, weight * ideals[q * depth + r]!);
      whole += weight;
    }
    for (let r = 0; r < depth; r++) ideal[r] = (sum[r]! + rest[r]!) / whole;
  }

  /** Every query's score at the depth. */
  private score(s: number, at: number): void {
    const { report, worth, ideals, scores } = this;
    const { grades, depth, answered } = report;
    const count = report.queries.length;
    const normalised = isNormalised(this.choice);
    const cap = this.choice.discount === "jarvelin2000" && isDiscounted(this.choice) ? Infinity : 1;
    const nothing = report.undefined === "zero" ? 0 : NaN;
    const absent = report.missing === "zero" ? 0 : NaN;
    for (let q = 0; q < count; q++) {
      if (!answered[s * count + q]) {
        scores[s * count + q] = absent;
        continue;
      }
      const cell = (s * count + q) * depth;
      let total = 0;
      for (let r = 0; r < at; r++) {
        const code = grades[cell + r]!;
        if (code === 0) break;
        total += worth[code * depth + r]!;
      }
      if (normalised) {
        const best = ideals[q * depth + at - 1]!;
        total = best > 0 ? Math.min(total / best, cap) : nothing;
      }
      scores[s * count + q] = total;
    }
  }

  /** The mean of a system's scores, and its interval. */
  private averageScores(s: number): void {
    const { report, scores } = this;
    const count = report.queries.length;
    const [sum, rest] = [this.sums[0]!, this.sums[1]!];
    sum[0] = rest[0] = 0;
    let [whole, square, squares] = [0, 0, 0];
    for (let q = 0; q < count; q++) {
      const score = scores[s * count + q]!;
      if (Number.isNaN(score)) continue;
      const weight = report.weights ? report.weights[q]! : 1;
      whole += weight;
      square += weight * weight;
      squares += weight * score * score;
      add(sum, rest, 0, weight * score);
    }
    const mean = (sum[0]! + rest[0]!) / whole;
    const reach = this.reach(s, whole, square) * Math.sqrt(Math.max(0, squares / whole - mean * mean));
    this.means[s] = mean;
    this.meanLow[s] = Math.max(0, mean - reach);
    this.meanHigh[s] = isNormalised(this.choice) ? Math.max(mean, Math.min(1, mean + reach)) : mean + reach;
  }

  /** Half-width of an interval in standard deviations, for the effective number of weighted queries. */
  private reach(s: number, whole: number, square: number): number {
    const effective = (whole * whole) / square;
    return effective > 1 ? (this.report.t[s] ?? NaN) / Math.sqrt(effective - 1) : NaN;
  }

  /** The mean over queries at each rank of the gain, or of its share of the ideal gain. */
  private averageValues(s: number): void {
    const { report, worth, ideals, ones, scores } = this;
    const { grades, depth, answered, weights } = report;
    const count = report.queries.length;
    const normalised = isNormalised(this.choice);
    const cap = !normalised || (this.choice.discount === "jarvelin2000" && isDiscounted(this.choice)) ? Infinity : 1;
    const [sum, rest, squares, plain, part] = this.sums as [
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
    ];
    let [whole, wholePlain, square] = [0, 0, 0];
    for (let q = 0; q < count; q++) {
      if (q % FEW === 0) flush(part, sum, rest);
      const at = s * count + q;
      const weight = weights ? weights[q]! : 1;
      if (!Number.isNaN(scores[at]!)) {
        whole += weight;
        square += weight * weight;
      }
      if (!answered[at]) {
        if (report.missing === "zero") wholePlain += weight;
        continue;
      }
      wholePlain += weight;
      const cell = at * depth;
      const row = normalised ? q * depth : 0;
      const by = normalised ? ideals : ones;
      if (!(by[row]! > 0)) continue; // no gain possible
      let total = 0;
      for (let r = 0; r < depth; r++) {
        total += worth[grades[cell + r]! * depth + r]!;
        plain[r]! += weight * total;
        let value = total / by[row + r]!;
        if (value > cap) value = cap;
        squares[r]! += weight * value * value;
        part[r]! += weight * value;
      }
    }
    flush(part, sum, rest);
    const reach = this.reach(s, whole, square);
    for (let r = 0; r < depth; r++) {
      const mean = (sum[r]! + rest[r]!) / whole;
      const spread = Math.sqrt(Math.max(0, squares[r]! / whole - mean * mean));
      this.keep(s, r, mean, reach * spread, plain[r]! / wholePlain);
    }
  }

  /** The mean gain over queries divided by the mean of their ideals, at each rank. */
  private averageMeans(s: number): void {
    const { report, worth, ideals } = this;
    const { grades, depth, answered, weights } = report;
    const count = report.queries.length;
    const cap = this.choice.discount === "jarvelin2000" && isDiscounted(this.choice) ? Infinity : 1;
    const [sum, rest, squares, best, bestRest, bestSquares, products] = this.sums as Float64Array[];
    let [whole, square] = [0, 0];
    for (let q = 0; q < count; q++) {
      const at = s * count + q;
      if (!answered[at] && report.missing === "skip") continue;
      const weight = weights ? weights[q]! : 1;
      whole += weight;
      square += weight * weight;
      let total = 0;
      for (let r = 0; r < depth; r++) {
        total += worth[grades[at * depth + r]! * depth + r]!;
        const ideal = ideals[q * depth + r]!;
        add(sum!, rest!, r, weight * total);
        add(best!, bestRest!, r, weight * ideal);
        squares![r]! += weight * total * total;
        bestSquares![r]! += weight * ideal * ideal;
        products![r]! += weight * total * ideal;
      }
    }
    const reach = this.reach(s, whole, square);
    for (let r = 0; r < depth; r++) {
      const [above, below] = [sum![r]! + rest![r]!, best![r]! + bestRest![r]!];
      const nothing = report.undefined === "zero" && whole ? 0 : NaN;
      const ratio = below > 0 ? Math.min(above / below, cap) : nothing;
      // Standard error of a ratio of means, by linear approximation.
      const squared = squares![r]! - 2 * ratio * products![r]! + ratio * ratio * bestSquares![r]!;
      const spread = below > 0 ? Math.sqrt(Math.max(0, squared / whole)) / (below / whole) : 0;
      this.keep(s, r, ratio, reach * spread, above / whole);
    }
    const at = s * depth + this.choice.depth - 1;
    this.means[s] = this.curves[at]!;
    this.meanLow[s] = this.low[at]!;
    this.meanHigh[s] = this.high[at]!;
  }

  private keep(s: number, r: number, mean: number, reach: number, plain: number): void {
    const at = s * this.report.depth + r;
    const most = isNormalised(this.choice) ? 1 : this.ideal[r]!;
    this.curves[at] = mean;
    this.plain[at] = plain;
    this.low[at] = Math.max(0, mean - reach);
    this.high[at] = Math.max(mean, Math.min(most, mean + reach));
  }

  /** The first rank at which a system reaches a mean gain; 0 if it does not. */
  rankToGain(s: number, gain: number): number {
    const depth = this.report.depth;
    const enough = gain * (1 - 1e-12); // tolerance for rounding
    for (let r = 0; r < depth; r++) if (this.plain[s * depth + r]! >= enough) return r + 1;
    return 0;
  }
}

/** Adds sums over a few queries, whose rounding errors are negligible, to the totals, and clears them. */
function flush(part: Float64Array, sums: Float64Array, rest: Float64Array): void {
  for (let r = 0; r < part.length; r++) add(sums, rest, r, part[r]!);
  part.fill(0);
}

/** Adds to a compensated sum. */
function add(sums: Float64Array, rest: Float64Array, at: number, value: number): void {
  const before = sums[at]!;
  const after = before + value;
  const added = after - before;
  rest[at]! += before - (after - added) + (value - added);
  sums[at] = after;
}
