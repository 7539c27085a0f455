// The playground: two rankings of a few documents, their scores and the arithmetic behind them.
import { button, copyButton, h, put, say } from "../dom.ts";
import { Looks } from "../looks.ts";
import { rankings } from "./lists.ts";
import type { Playground } from "./page.ts";
import { announcement, arithmetic, current, curves, measures, others } from "./results.ts";
import { othersOf, scoresOf } from "./scores.ts";
import { settings } from "./settings.ts";
import { command, fromHash, type Patch, type Side, SIDES, START, type State, toHash } from "./state.ts";

function start(): void {
  const looks = new Looks(["left", "second"]); // names whose hues are blue and orange
  let state = fromHash(location.hash);
  let scores = scoresOf(state);
  let selected: Playground["selected"] = null;
  let [waiting, addressing, speaking] = [0, 0, 0];
  const past: State[] = [];
  let moving = false;
  let last = { keys: "", time: 0 };
  const spoken = h("p", { class: "hidden", "aria-live": "polite" });

  const address = (): void => {
    try {
      history.replaceState(null, "", `#${toHash(state)}`);
    } catch {
      // A page in a frame may have no address of its own.
    }
  };
  const draw = (): void => {
    cancelAnimationFrame(waiting);
    waiting = 0;
    for (const each of parts) each.draw();
  };
  const later = (): void => void (waiting ||= requestAnimationFrame(draw));
  const change = (next: State): void => {
    state = next;
    scores = scoresOf(state);
    later();
    // Browsers limit how often a page may change its address.
    clearTimeout(addressing);
    addressing = window.setTimeout(address, 150);
  };
  const tell = (said: string): void => {
    clearTimeout(speaking);
    speaking = window.setTimeout(() => say(spoken, `${said} ${announcement(state, scores)}`), 120);
  };
  const page: Playground = {
    get state() {
      return state;
    },
    get scores() {
      return scores;
    },
    get selected() {
      return selected;
    },
    looks,
    set(patch: Patch, said?: string) {
      // A whole drag, or a whole movement of a slider, is one step to undo.
      const keys = Object.keys(patch).join();
      const goesOn = keys === last.keys && /^(gain|base|k)$/.test(keys) && performance.now() - last.time < 1000;
      if (!moving && !goesOn) past.push(state);
      moving = said === undefined;
      last = { keys, time: performance.now() };
      change({ ...state, ...patch });
      if (said !== undefined) tell(said);
    },
    select(side: Side, id: string | null) {
      if (selected?.id === id && selected?.side === side) return;
      selected = id === null ? null : { side, id };
      later();
    },
    now: () => {
      if (waiting) draw();
    },
  };

  const lists = rankings(page);
  const panel = settings(page);
  const details = h("details", { class: "panel" }, h("summary", {}, panel.summary), panel.node);
  const now = current(page);
  lists.node.querySelector(".dock")!.prepend(now.node);
  const parts = [lists, panel, now, measures(page), curves(page), arithmetic(page), others(page)];
  const undo = button("Undo", () => {
    const before = past.pop();
    if (before) ((moving = false), change(before), tell("Undone."));
  });
  const restart = button("Start again", () => page.set({ ...START }, "Started again."));
  const link = copyButton("Copy link", () => {
    address();
    return location.href;
  });
  const toSite = location.protocol.startsWith("http") && h("a", { href: "../" }, "Documentation");
  put(
    document.getElementById("app")!,
    h(
      "main",
      {},
      h(
        "header",
        {},
        h("p", { class: "kicker" }, "gainful playground", toSite && " · ", toSite),
        h("h1", {}, "What is this ranking worth?"),
        h(
          "p",
          { class: "lead" },
          "Reorder the documents, change their grades or the settings, and watch every measure, its arithmetic and the values of other tools.",
        ),
        h("div", { class: "buttons" }, link, undo, restart),
      ),
      h(
        "div",
        { class: "columns" },
        h("div", { class: "left" }, lists.node),
        h(
          "div",
          { class: "right" },
          h(
            "section",
            { class: "settings", "aria-labelledby": "settings-title" },
            h("h2", { id: "settings-title", class: "hidden" }, "Settings"),
            details,
          ),
          parts.slice(3).map((each) => (each as { node: HTMLElement }).node),
        ),
      ),
      spoken,
    ),
  );
  // The settings are always open on wide pages.
  const wide = matchMedia("(min-width: 1100px)");
  const follow = (): void => void (details.open = wide.matches);
  wide.addEventListener("change", follow);
  follow();
  draw();
  addEventListener("hashchange", () => {
    if (location.hash.slice(1) === toHash(state)) return;
    past.push(state);
    change(fromHash(location.hash));
  });
  addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === "text";
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || isTyping) return;
    event.preventDefault();
    undo.click();
  });
  const recolour = (): void => {
    looks.read();
    later();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);

  // For tests and consoles: everything that the page computes for a link.
  const ask = (hash: string): unknown => {
    const wanted = fromHash(hash);
    const { worked, shared } = scoresOf(wanted);
    return {
      hash: toHash(wanted),
      commands: SIDES.map((side) => command(wanted, side)),
      worked,
      shared,
      others: othersOf(wanted),
    };
  };
  Object.defineProperty(window, "gainfulPlayground", { value: Object.freeze({ ask, hash: () => toHash(state) }) });
  document.documentElement.dataset.ready = "1";
}

start();
