// What the views share.
import { decodeDocuments, type Documents, type Report } from "./decode.ts";
import { type Child, h, name, svg } from "./dom.ts";
import type { Looks } from "./looks.ts";
import type { Live } from "./measures.ts";
import type { Patch, State } from "./state.ts";

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
  over: string;
  looks: Looks;
  readonly state: State;
  set(patch: Patch): void;
}

export interface Page extends BasePage {
  live: Live;
  /** The documents, once they are decoded; asks for them where they are not, and draws again when they are there. */
  documents(): Documents | null | undefined;
}

/** Decodes the documents when they are first asked for: undefined until then, null where there are none. */
export function documentsOnce(systems: number, then: () => void): () => Documents | null | undefined {
  let found: Documents | null | undefined;
  let asked = false;
  return () => {
    if (!asked) {
      asked = true;
      decodeDocuments(systems).then((documents) => {
        found = documents;
        then();
      });
    }
    return found;
  };
}

export const section = (id: string, title: string, ...children: (Child | Child[])[]): HTMLElement =>
  h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title`, tabindex: -1 }, title),
    ...children,
  );

/** A piece of line as it is drawn in charts, before a system's name. */
export function swatch(page: BasePage, s: number): SVGElement {
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
  h("span", { class: "system" }, swatch(page, s), name(page.report.systems[s]!, most));
