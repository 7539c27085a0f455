// The page: decodes its data, stacks the views, and draws the visible ones.
import { decodeDocuments, decodeReport, type Documents, type Report } from "./decode.ts";
import { copyButton, h } from "./dom.ts";
import { Looks } from "./looks.ts";
import { Live } from "./measures.ts";
import { type BasePage, overText, type Page, type View, unansweredText, worthText } from "./page.ts";
import { SessionLive } from "./session_measures.ts";
import { haveSameControls, type Patch, type State, Store } from "./state.ts";
import { abstention } from "./views/abstention.ts";
import { changes } from "./views/changes.ts";
import { controls } from "./views/controls.ts";
import { curves, sideways } from "./views/curves.ts";
import { holes } from "./views/holes.ts";
import { leaderboard } from "./views/leaderboard.ts";
import { loss } from "./views/loss.ts";
import { queries } from "./views/queries.ts";
import { query } from "./views/query.ts";
import { recall } from "./views/recall.ts";
import { sensitivityMap } from "./views/sensitivity_map.ts";
import { sessionCurves, sessionTable } from "./views/session_curves.ts";
import { significance } from "./views/significance.ts";

interface Shown extends View {
  isSeen: boolean;
  isStale: boolean;
}

/** Parts of a page about runs or sessions: its views, its reaction to the controls, and its results. */
interface Content {
  page: BasePage;
  views: (View | null | false)[];
  update(state: State): void;
  values(): unknown;
}

function aboutRuns(report: Report, looks: Looks, store: () => Store): Content {
  const live = new Live(report);
  let documents: Documents | null | undefined;
  const page: Page = {
    report,
    looks,
    get state() {
      return store().state;
    },
    set: (patch) => store().set(patch),
    averages: live,
    over: () =>
      overText(bySystem(live.scores, report.queries.length), "query", "queries") +
      unansweredText(report) +
      worthText(report.weights),
    live,
    documents: () => (documents === undefined ? (documents = decodeDocuments(report.systems.length)) : documents),
  };
  live.update(store().state);
  const hasOther = report.systems.length > 1;
  const bySystem = (values: Float64Array, size: number): Float64Array[] =>
    report.systems.map((_, s) => values.subarray(s * size, (s + 1) * size));
  const rows = (values: Float64Array, size: number): number[][] => bySystem(values, size).map((each) => [...each]);
  return {
    page,
    views: [
      leaderboard(page),
      curves(page),
      loss(page),
      hasOther && sensitivityMap(page),
      queries(page),
      query(page),
      changes(page),
      recall(page),
      holes(page),
      abstention(page),
      hasOther && significance(page),
    ],
    update: (state) => live.update(state),
    values: () => {
      live.cumulate();
      return {
        means: [...live.means],
        curves: rows(live.curves, report.depth),
        ideal: [...live.ideal],
        scores: rows(live.scores, report.queries.length),
        sideways: sideways(page),
      };
    },
  };
}

function aboutSessions(report: Report, looks: Looks, store: () => Store): Content {
  const live = new SessionLive(report);
  live.update(store().state);
  const page: BasePage = {
    report,
    looks,
    get state() {
      return store().state;
    },
    set: (patch) => store().set(patch),
    averages: live,
    over: () => overText(live.scores, "session"),
  };
  return {
    page,
    views: [leaderboard(page), sessionCurves(page, live), sessionTable(page, live)],
    update: (state) => live.update(state),
    values: () => ({
      means: [...live.means],
      curves: live.curves.map((each) => [...each]),
      scores: live.scores.map((each) => [...each]),
    }),
  };
}

function start(): void {
  const report = decodeReport();
  const looks = new Looks(report.systems);
  // In print, the page is light, as wide as a sheet, and complete, with its sources at the end. Views are notified
  // afterwards.
  const about = document.getElementById("about") as HTMLDetailsElement;
  const turn = (isPaper: boolean): void => {
    document.documentElement.classList.toggle("print", isPaper);
    about.open = isPaper;
    (isPaper ? document.querySelector("main")! : document.getElementById("answer")!).append(about);
    looks.read();
  };
  addEventListener("beforeprint", () => turn(true));
  addEventListener("afterprint", () => turn(false));
  let computed: State | null = null;
  let taken = 0;
  const store: Store = new Store(report, () => {
    const begin = performance.now();
    if (!computed || !haveSameControls(computed, store.state)) content.update(store.state);
    computed = store.state;
    panel.draw();
    for (const view of views) {
      view.isStale = true;
      show(view);
    }
    taken = performance.now() - begin;
  });
  const content = (report.sessions ? aboutSessions : aboutRuns)(report, looks, () => store);
  const panel = controls(content.page);
  const views: Shown[] = content.views
    .filter((view): view is View => !!view)
    .map((view) => ({ ...view, isSeen: false, isStale: true }));

  /** Draws a view that has changed and is visible or requested. */
  function show(view: Shown, always = false): void {
    if (!view.isStale || !(view.isSeen || always || view.node.hidden)) return;
    view.isStale = false;
    view.draw();
  }
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const view = views.find((each) => each.node === entry.target)!;
      view.isSeen = entry.isIntersecting;
      show(view);
    }
  });

  panel.draw();
  arrange(views, panel, store);
  for (const view of views) {
    seen.observe(view.node);
    show(view, view === views[0]);
  }

  const recolour = (): void => {
    looks.read();
    store.redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  addEventListener("beforeprint", () => views.forEach((view) => view.draw()));
  addEventListener("afterprint", () => store.redraw());
  expose(report, store, content, () => taken);
}

/** Replaces the static content with controls and views, except the answer and the description. */
function arrange(views: View[], panel: ReturnType<typeof controls>, store: Store): void {
  for (const id of ["leaderboard", "curves"]) document.getElementById(id)?.remove();
  const kept = document.getElementById("notices");
  const details = h("details", { class: "panel" }, h("summary", {}, panel.summary), panel.node);
  const go = (node: HTMLElement): void => {
    node.scrollIntoView();
    node.querySelector("h2")?.focus({ preventScroll: true });
  };
  const items = views
    .filter((view) => !view.node.hidden)
    .map(({ node }) =>
      h(
        "li",
        {},
        h("button", { type: "button", class: "link", onclick: () => go(node) }, node.querySelector("h2")!.textContent),
      ),
    );
  const answer = document.getElementById("answer")!;
  const said = [...answer.querySelectorAll(":scope > p")].map((each) => each.textContent).slice(0, 2);
  const link = (): string => {
    store.address();
    return location.href;
  };
  const copies = h(
    "div",
    { class: "buttons" },
    copyButton("Copy the answer", () => said.join(" ")),
    // A page within a notebook has no address.
    location.protocol !== "about:" && copyButton("Copy a link to this view", link),
  );
  answer.insertBefore(copies, document.getElementById("about"));
  const header = h("header", {}, document.querySelector("#static h1"), answer, panel.words);
  answer.querySelector("h2")!.tabIndex = -1;
  // The address holds the state: links into the page must not replace it.
  document.querySelector(".skip")!.addEventListener("click", (event) => {
    event.preventDefault();
    go(answer);
  });
  const aside = h(
    "aside",
    { "aria-label": "Controls" },
    details,
    h("nav", { "aria-label": "Sections" }, h("ul", {}, items)),
  );
  const app = document.getElementById("app")!;
  app.append(
    h(
      "main",
      {},
      header,
      h(
        "div",
        { class: "columns" },
        aside,
        h(
          "div",
          { class: "views" },
          views.map((view) => view.node),
          kept,
        ),
      ),
    ),
  );
  app.hidden = false;
  document.getElementById("static")?.remove();
  // On wide pages, the controls are next to the views and always open.
  const wide = matchMedia("(min-width: 1280px)");
  const follow = (): void => void (details.open = wide.matches);
  wide.addEventListener("change", follow);
  follow();
}

/** Access for tests and the console. */
function expose(report: Report, store: Store, content: Content, taken: () => number): void {
  const api = {
    get state(): State {
      return structuredClone(store.state);
    },
    set(patch: Patch): void {
      store.set(patch);
      store.now();
    },
    /** Duration of the last step, in milliseconds. */
    get taken(): number {
      return taken();
    },
    levels: Object.freeze([...report.levels]),
    values: () => content.values(),
  };
  Object.defineProperty(window, "gainfulReport", { value: Object.freeze(api) });
  performance.mark("gainful-ready");
  document.documentElement.dataset.ready = "1";
}

try {
  start();
} catch (error: unknown) {
  // The static content stays readable.
  const why = error instanceof Error ? error.message : String(error);
  const note = h("p", { class: "note", role: "alert" }, `The interactive parts require a recent browser (${why}).`);
  document.getElementById("static")?.prepend(note);
}
