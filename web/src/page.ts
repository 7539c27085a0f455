// Types and texts shared by the views.
import type { Documents, Measure, Report } from "./decode.ts";
import { type Child, count, h, listed, plain, shown, svg } from "./dom.ts";
import type { Looks } from "./looks.ts";
import type { Live } from "./measures.ts";
import { haveSameControls, initial, type Patch, type State } from "./state.ts";

/** A section of the page, drawn when it is visible and has changed. */
export interface View {
  node: HTMLElement;
  draw(): void;
}

/** Results of the controls for each system. */
export interface Averages {
  readonly means: Float64Array;
  readonly meanLow: Float64Array;
  readonly meanHigh: Float64Array;
}

/** Common part of pages about runs and about sessions. */
export interface BasePage {
  report: Report;
  averages: Averages;
  /** The queries or sessions that are averaged, in words. */
  over(): string;
  looks: Looks;
  readonly state: State;
  set(patch: Patch): void;
}

export interface Page extends BasePage {
  live: Live;
  /** The documents, decoded on first use; null if there are none. */
  documents(): Documents | null;
}

/** The number of scores per system that count. */
export function overText(scores: Float64Array[], one: string, many?: string): string {
  const sizes = scores.map((each) => {
    let size = 0;
    for (let i = 0; i < each.length; i++) if (!Number.isNaN(each[i]!)) size++;
    return size;
  });
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return `${least < most ? `${least.toLocaleString("en")} to ` : ""}${count(most, one, many)}`;
}

/** Unanswered queries per system, if they count: "…, 20 of which late did not answer". */
export function unansweredText({ systems, queries, answered, missing }: Report): string {
  if (missing === "skip") return "";
  const said = systems.flatMap((name, s) => {
    const own = answered.subarray(s * queries.length, (s + 1) * queries.length);
    const lacking = own.filter((each) => !each).length;
    return lacking ? [`${lacking.toLocaleString("en")} of which ${name} did not answer`] : [];
  });
  if (said.length > 3) return `, some of which ${said.length} systems did not answer`;
  return said.length ? `, ${listed(said)}` : "";
}

/** The effective number of queries with weights; empty if all weights are equal. */
export function worthText(weights: Float64Array | null): string {
  if (!weights || weights.every((each) => each === weights[0])) return "";
  let [sum, squares] = [0, 0];
  for (const each of weights) [sum, squares] = [sum + each, squares + each * each];
  const worth = (sum * sum) / squares;
  return `, effective sample size ${worth.toLocaleString("en", { maximumFractionDigits: worth < 10 ? 1 : 0 })}`;
}

/** "weighted " if queries have different weights. */
export const weighted = ({ weights }: Report): string => (worthText(weights) ? "weighted " : "");

/** The evaluated measure that matches the controls; null if none does. */
export const evaluated = ({ report, state }: BasePage): Measure | null =>
  report.live !== null && haveSameControls(state, initial(report)) ? report.measures[report.live]! : null;

/** The name of the controls' measure, distinct from evaluated measures with other gains or discounts. */
export function liveName(page: BasePage): string {
  const now = `${page.state.measure}@${page.state.depth}`;
  const isOther = page.report.measures.some(({ name }) => name === now);
  return evaluated(page)?.name ?? `${now}${isOther ? " as set" : ""}`;
}

/** Shows a query in its view, which gets the focus. */
export function openQuery(page: Page, query: number, pair: Patch = {}): void {
  page.set({ ...pair, query: page.report.queries[query]! });
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById("query-title")?.focus()));
}

/** Whether there are two systems to compare. */
export const hasPair = (page: BasePage): boolean => page.report.systems.length > 1;

export const section = (id: string, title: string, ...children: (Child | Child[])[]): HTMLElement =>
  h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title`, tabindex: -1 }, title),
    ...children,
  );

/** A sample of a system's line, shown before its name. */
export function swatch(page: Pick<BasePage, "looks">, s: number): SVGElement {
  const line = { x1: 1, x2: 27, y1: 5, y2: 5, stroke: `var(--hue-${s})`, "stroke-width": 2.5 };
  const dash = page.looks.dash(s, 2).join(" ");
  return svg(
    "svg",
    { class: "swatch", width: 28, height: 10, "aria-hidden": "true" },
    svg("line", { ...line, "stroke-dasharray": dash || null }),
  );
}

/** A system's name with its line. */
export const system = (page: BasePage, s: number, most?: number): HTMLElement =>
  h("span", { class: "system" }, swatch(page, s), nameOf(page, s, most));

/** A system's name, shortened if long, that keeps its writing direction. */
export const nameOf = (page: BasePage, s: number, most?: number): HTMLElement =>
  h("bdi", { title: shown(page.report.systems[s]!) }, page.looks.name(s, most));

/** A grade as a colour and a digit, or the mark for unjudged documents. */
export function gradeChip(levels: readonly number[], code: number): HTMLElement {
  if (code === 1)
    return h("span", { class: "grade unjudged", title: "unjudged" }, "?", h("span", { class: "hidden" }, " unjudged"));
  const level = levels[code - 2]!;
  const above = levels.filter((each) => each > 0);
  const place = level > 0 ? Math.ceil(((above.indexOf(level) + 1) / above.length) * 4) : 0;
  return h("span", { class: `grade g${place}`, title: `grade ${plain(level)}` }, plain(level));
}
