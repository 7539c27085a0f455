// sDCG and nsDCG of sessions, recomputed for other gains, bases and depths.
import type { Report } from "./decode.ts";
import { divisor, eachIdealLevel, isNormalised, levelOrder } from "./measures.ts";
import type { State } from "./state.ts";

/** The sessions of a system: the first turn of each, the contents of each list, and its judgments. */
interface Sessions {
  turnAt: Uint32Array;
  grades: Uint8Array | Uint16Array;
  pool: Uint32Array;
  answered: Uint8Array;
}

export class SessionLive {
  readonly means: Float64Array;
  readonly meanLow: Float64Array;
  readonly meanHigh: Float64Array;
  /** By system: averages after 1, 2, ... queries, and the score of each session, NaN if it does not count. */
  readonly curves: Float64Array[];
  readonly scores: Float64Array[];
  readonly of: Sessions[];

  constructor(private readonly report: Report) {
    const numbers = (name: string, s: number): never => report.numbers(`${name}${s}`) as never;
    this.of = report.systems.map((_, s) => ({
      turnAt: numbers("turnAt", s),
      grades: numbers("grades", s),
      pool: numbers("pool", s),
      answered: numbers("answered", s),
    }));
    this.scores = report.sessions!.map((ids) => new Float64Array(ids.length));
    this.curves = report.systems.map(() => new Float64Array(report.queriesMost!));
    const none = (): Float64Array => new Float64Array(report.systems.length).fill(NaN);
    [this.means, this.meanLow, this.meanHigh] = [none(), none(), none()];
  }

  update(state: State): void {
    const { report } = this;
    const most = report.queriesMost!;
    const ranks = Float64Array.from({ length: report.depth }, (_, r) => divisor("jarvelin2008", state.base, r + 1));
    const positions = Float64Array.from({ length: most }, (_, p) => divisor("jarvelin2008", state.queryBase, p + 1));
    const ideals = this.ideals(state, ranks);
    const normalised = isNormalised(state);
    report.systems.forEach((_, s) => {
      const { turnAt, answered } = this.of[s]!;
      const curve = this.curves[s]!.fill(0);
      let counted = 0;
      let total = 0;
      let squares = 0;
      for (let i = 0; i < this.scores[s]!.length; i++) {
        const isThere = answered[i] || report.missing === "zero";
        const vector = this.vector(s, turnAt[i]!, turnAt[i + 1]!, state, ranks, positions, ideals, normalised);
        const last = answered[i] ? (vector.at(-1) ?? 0) : isThere ? 0 : NaN;
        this.scores[s]![i] = last;
        if (Number.isNaN(last)) continue;
        counted++;
        total += last;
        squares += last * last;
        for (let p = 0; p < most; p++) curve[p]! += vector[Math.min(p, vector.length - 1)] || 0;
      }
      const mean = total / counted;
      const spread = Math.sqrt(Math.max(0, squares / counted - mean * mean) / (counted - 1));
      const reach = counted > 1 ? (report.t[s] ?? NaN) * spread : NaN;
      this.means[s] = mean;
      this.meanLow[s] = Math.max(0, mean - reach);
      this.meanHigh[s] = normalised ? Math.min(1, mean + reach) : mean + reach;
      for (let p = 0; p < most; p++) curve[p]! /= counted;
    });
  }

  /** The gain of the ideal list of each pool of judgments. */
  private ideals(state: State, ranks: Float64Array): Float64Array {
    const { report } = this;
    const order = levelOrder(state.gains).filter((level) => state.gains[level]! > 0);
    const found = new Float64Array(report.poolAt.length - 1);
    for (let pool = 0; pool < found.length; pool++) {
      eachIdealLevel(report, pool, order, state.depth, (level, from, to) => {
        for (let r = from; r < to; r++) found[pool]! += state.gains[level]! / ranks[r]!;
      });
    }
    return found;
  }

  /** The gain of a session after each query; for a normalised measure, relative to the ideal gain. */
  vector(
    s: number,
    first: number,
    last: number,
    state: State,
    ranks: Float64Array,
    positions: Float64Array,
    ideals: Float64Array,
    normalised: boolean,
  ): number[] {
    const { grades, pool } = this.of[s]!;
    const { depth } = this.report;
    const nothing = this.report.undefined === "zero" ? 0 : NaN;
    const found: number[] = [];
    let [sum, best] = [0, 0];
    for (let turn = first; turn < last; turn++) {
      let gained = 0;
      for (let r = 0; r < state.depth; r++) {
        const code = grades[turn * depth + r]!;
        if (code === 0) break;
        if (code > 1) gained += state.gains[code - 2]! / ranks[r]!;
      }
      sum += gained / positions[turn - first]!;
      best += (pool[turn] ? ideals[pool[turn]! - 1]! : 0) / positions[turn - first]!;
      found.push(normalised ? (best > 0 ? Math.min(1, sum / best) : nothing) : sum);
    }
    return found;
  }
}
