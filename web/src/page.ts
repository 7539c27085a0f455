// What the views share.
import type { Documents, Measure, Report } from "./decode.ts";
import { type Child, count, h, listed, plain, shown, svg } from "./dom.ts";
import type { Looks } from "./looks.ts";
import type { Live } from "./measures.ts";
import { haveSameControls, initial, type Patch, type State } from "./state.ts";

/** A section of the page. It is drawn when it is on the screen and something changed. */
export interface View {
  node: HTMLElement;
  draw(): void;
}

/** What the controls come to for every system. */
export interface Averages {
  readonly means: Float64Array;
  readonly meanLow: Float64Array;
  readonly meanHigh: Float64Array;
}

/** What pages of runs and of sessions have in common. */
export interface BasePage {
  report: Report;
  averages: Averages;
  /** Over what averages are: so many queries or sessions. */
  over(): string;
  looks: Looks;
  readonly state: State;
  set(patch: Patch): void;
}

export interface Page extends BasePage {
  live: Live;
  /** The documents, decoded when they are first asked for; null where there are none. */
  documents(): Documents | null;
}

/** How many scores there are by system, those that do not count left out. */
export function overText(scores: Float64Array[], one: string, many?: string): string {
  const sizes = scores.map((each) => {
    let size = 0;
    for (let i = 0; i < each.length; i++) if (!Number.isNaN(each[i]!)) size++;
    return size;
  });
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return `${least < most ? `${least.toLocaleString("en")} to ` : ""}${count(most, one, many)}`;
}

/** How many of the queries systems did not answer, where these count: "…, 20 of which late did not answer". */
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

/** How many queries of equal weight would tell as much; nothing where all count alike. */
export function worthText(weights: Float64Array | null): string {
  if (!weights || weights.every((each) => each === weights[0])) return "";
  let [sum, squares] = [0, 0];
  for (const each of weights) [sum, squares] = [sum + each, squares + each * each];
  const worth = (sum * sum) / squares;
  return `, worth ${worth.toLocaleString("en", { maximumFractionDigits: worth < 10 ? 1 : 0 })} by their weights`;
}

/** What means are called whose queries do not weigh the same. */
export const weighted = ({ weights }: Report): string => (worthText(weights) ? "weighted " : "");

/** The measure of the evaluation that the controls are set to; null where they are set to no such one. */
export const evaluated = ({ report, state }: BasePage): Measure | null =>
  report.live !== null && haveSameControls(state, initial(report)) ? report.measures[report.live]! : null;

/** What the measure of the controls is called; not as one that was evaluated with other gains or discounts. */
export function liveName(page: BasePage): string {
  const now = `${page.state.measure}@${page.state.depth}`;
  const isOther = page.report.measures.some(({ name }) => name === now);
  return evaluated(page)?.name ?? `${now}${isOther ? " as set" : ""}`;
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

/** A piece of line as it is drawn in charts, before a system's name. */
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

/** A system's name, short where it is long, that keeps its own direction of writing. */
export const nameOf = (page: BasePage, s: number, most?: number): HTMLElement =>
  h("bdi", { title: shown(page.report.systems[s]!) }, page.looks.name(s, most));

/** A grade as a colour and a digit; what is unjudged has a mark of its own. */
export function gradeChip(levels: readonly number[], code: number): HTMLElement {
  if (code === 1)
    return h("span", { class: "grade unjudged", title: "unjudged" }, "?", h("span", { class: "hidden" }, " unjudged"));
  const level = levels[code - 2]!;
  const above = levels.filter((each) => each > 0);
  const place = level > 0 ? Math.ceil(((above.indexOf(level) + 1) / above.length) * 4) : 0;
  return h("span", { class: `grade g${place}`, title: `grade ${plain(level)}` }, plain(level));
}
