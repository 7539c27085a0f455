// The page: decodes what it carries, puts the views below each other, and draws those that are seen.
import { decodeReport, type Report } from "./decode.ts";
import { h, say } from "./dom.ts";
import { Looks } from "./looks.ts";
import { Live } from "./measures.ts";
import { documentsOnce, type Page, type View } from "./page.ts";
import { type Patch, type State, Store } from "./state.ts";
import { controls } from "./views/controls.ts";
import { curves, sideways } from "./views/curves.ts";
import { holes } from "./views/holes.ts";
import { leaderboard } from "./views/leaderboard.ts";
import { queries } from "./views/queries.ts";
import { query } from "./views/query.ts";
import { recall } from "./views/recall.ts";
import { sensitivityMap } from "./views/sensitivity_map.ts";
import { significance } from "./views/significance.ts";

interface Shown extends View {
  isSeen: boolean;
  isStale: boolean;
}

async function start(): Promise<void> {
  const report = await decodeReport();
  const app = document.getElementById("app")!;
  const kept = (id: string): HTMLElement | null => document.getElementById(id);
  const live = new Live(report);
  const looks = new Looks(report.systems);
  let views: Shown[] = [];
  let computed = "";
  let taken = 0;

  const store = new Store(report, () => {
    const begin = performance.now();
    compute();
    panel.draw();
    for (const view of views) {
      view.isStale = true;
      show(view);
    }
    taken = performance.now() - begin;
  });
  function compute(): void {
    const { measure, discount, base, depth, average, gains } = store.state;
    const wanted = [measure, discount, base, depth, average, gains].join("|");
    if (wanted !== computed) live.update(store.state);
    computed = wanted;
  }
  function show(view: Shown, always = false): void {
    if (!view.isStale || !(view.isSeen || always)) return;
    view.isStale = false;
    view.draw();
  }
  const page: Page = {
    report,
    live,
    looks,
    get state() {
      return store.state;
    },
    set: (patch) => store.set(patch),
    documents: documentsOnce(() => store.redraw()),
  };

  const panel = controls(page);
  const hasOther = report.systems.length > 1;
  const made = [leaderboard(page), curves(page), hasOther && sensitivityMap(page), queries(page), query(page), recall(page), holes(page), hasOther && significance(page)];
  const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const view = views.find((each) => each.node === entry.target);
        if (!view) continue;
        view.isSeen = entry.isIntersecting;
        show(view);
      }
  });
  views = made.filter((view): view is View => !!view).map((view) => ({ ...view, isSeen: false, isStale: true }));

  compute();
  panel.draw();
  document.getElementById("leaderboard")?.remove();
  document.getElementById("curves")?.remove();
  const heading = document.querySelector("#static h1");
  const details = h("details", { class: "panel", open: true }, h("summary", {}, panel.summary), panel.node);
  const titles = (): [string, HTMLElement][] => views.map((view) => [view.node.querySelector("h2")!.textContent!, view.node]);
  const links = h("nav", { "aria-label": "Sections" }, h("ul", {}, titles().filter(([, node]) => node.id !== "query").map(([text, node]) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => { node.scrollIntoView(); node.querySelector("h2")?.focus({ preventScroll: true }); } }, text)))));
  const main = h("main", {}, h("header", {}, heading, kept("answer")), h("div", { class: "columns" }, h("aside", { "aria-label": "Controls" }, details, links), h("div", { class: "views" }, views.map((view) => view.node), kept("notices"), kept("about"))));
  app.append(main);
  app.hidden = false;
  document.getElementById("static")?.remove();
  for (const view of views) seen.observe(view.node);
  show(views[0]!, true);

  // Wide pages have the controls beside the views, always open.
  const wide = matchMedia("(min-width: 1080px)");
  const arrange = (): void => {
    details.open = wide.matches;
  };
  wide.addEventListener("change", arrange);
  arrange();

  const recolour = (): void => {
    looks.read();
    store.redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  // On paper the page is light, and whole.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("print");
    looks.read();
    for (const view of views) view.draw();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("print");
    recolour();
  });
  expose(report, live, store, page, () => taken);
}

/** What tests and consoles may ask. */
function expose(report: Report, live: Live, store: Store, page: Page, taken: () => number): void {
  const rows = (values: Float64Array, size: number): number[][] => report.systems.map((_, s) => [...values.subarray(s * size, (s + 1) * size)]);
  const api = {
    get state(): State {
      return structuredClone(store.state);
    },
    set(patch: Patch): void {
      store.set(patch);
      store.now();
    },
    /** How long the last step took, in milliseconds. */
    get taken(): number {
      return taken();
    },
    levels: [...report.levels],
    values: () => (live.cumulate(), {
      means: [...live.means],
      curves: rows(live.curves, report.depth),
      low: rows(live.low, report.depth),
      high: rows(live.high, report.depth),
      ideal: [...live.ideal],
      scores: rows(live.scores, report.queries.length),
      sideways: sideways(page),
    }),
  };
  Object.defineProperty(window, "gainfulReport", { value: Object.freeze(api) });
  performance.mark("gainful-ready");
  document.documentElement.dataset.ready = "1";
}

start().catch((error: unknown) => {
  // What is static stays readable.
  const note = h("p", { class: "note", role: "alert" });
  say(note, `The interactive parts could not be shown (${error instanceof Error ? error.message : error}). A recent browser is needed.`);
  document.getElementById("static")?.prepend(note);
});
