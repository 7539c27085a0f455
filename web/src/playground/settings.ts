// The measure's parameters: gains, discount, base, cutoff and scale.
import { button, choices, h, plain, say } from "../dom.ts";
import { readNumber, slider } from "../fields.ts";
import { isDiscounted } from "../measures.ts";
import { readBase } from "../state.ts";
import { discountText, hasBase } from "../views/controls.ts";
import type { Playground } from "./page.ts";
import {
  type Gain,
  gainsOf,
  gainText,
  HIGHEST,
  isCumulated,
  LETTERS,
  measureText,
  type Patch,
  scaled,
} from "./state.ts";
import tools from "./tools.json";

const PRESETS: Record<string, [Patch, string]> = {
  "Most tools": [
    { gain: "linear", discount: "burges2005", base: 2 },
    "The gain is the grade, the discount log2(rank + 1)",
  ],
  "2002 paper": [{ gain: "linear", discount: "jarvelin2002", base: 2 }, "Järvelin and Kekäläinen, TOIS 2002"],
  "Web search": [
    { gain: "exp2", discount: "burges2005", base: 2 },
    "Burges et al., ICML 2005: the gain is 2^grade − 1",
  ],
};
const GAINS: [string, string][] = [
  ["linear", "the grade"],
  ["exp2", "2^grade − 1"],
  ["binary", "1 if relevant"],
  ["own", "your own"],
];

export function settings(page: Playground): { node: HTMLElement; summary: HTMLElement; draw: () => void } {
  const presets = h(
    "div",
    { class: "presets", role: "group", "aria-label": "Presets" },
    Object.entries(PRESETS).map(([text, [patch, title]]) => button(text, () => page.set(patch, `${text}.`), { title })),
  );
  const gain = choices("Gain", GAINS, (text) =>
    page.set({ gain: text === "own" ? gainsOf(page.state.gain, page.state.scale) : (text as Gain) }, "Gains changed."),
  );
  const sliders = Array.from({ length: HIGHEST }, (_, i) =>
    slider(`Grade ${i + 1}`, [0, 10, 0.1], readNumber(0), (value) => {
      const gains = gainsOf(page.state.gain, page.state.scale);
      gains[i + 1] = Math.min(value, 1e6);
      page.set({ gain: gains }, `Gain of grade ${i + 1}: ${plain(value)}.`);
    }),
  );
  const discount = choices(
    "Discount",
    Object.entries(tools.discounts).map(([name, { formula }]): [string, string] => [
      name,
      formula === "1" ? "none" : formula,
    ]),
    (text) => page.set({ discount: text }, "Discount changed."),
  );
  const source = h("p", { class: "note source" });
  const base = slider(
    "Base b",
    [1.1, 20, 0.1],
    readBase,
    (value) => page.set({ base: value }, `Base ${value}.`),
    "A number above 1, or e",
  );
  const cutoff = slider("Cutoff k", [1, LETTERS.length, 1], readNumber(1), (value) => {
    const k = Math.min(LETTERS.length, Math.round(value));
    page.set({ k }, `Cutoff ${k}.`);
  });
  const whole = h("input", {
    type: "checkbox",
    onchange: () =>
      page.set({ k: whole.checked ? null : page.scores.depth }, whole.checked ? "No cutoff." : "Cutoff on."),
  });
  const scale = choices(
    "Top grade",
    Array.from({ length: HIGHEST }, (_, i): [string, string] => [String(i + 1), String(i + 1)]),
    (text) => page.set(scaled(page.state, Number(text)), `Top grade ${text}.`),
  );
  const summary = h("span", { class: "now" });
  const node = h(
    "div",
    { class: "controls" },
    presets,
    h(
      "div",
      {},
      gain.node,
      sliders.map((each) => each.node),
    ),
    h("div", {}, discount.node, source, base.node),
    h("div", {}, cutoff.node, h("label", { class: "check" }, whole, "No cutoff"), scale.node),
  );

  function draw(): void {
    const { state, scores } = page;
    const gains = gainsOf(state.gain, state.scale);
    const measured = { ...state, measure: isCumulated(state.measure) ? state.measure : "nDCG" } as const;
    gain.select.value = typeof state.gain === "string" ? state.gain : "own";
    sliders.forEach((each, i) => {
      each.node.hidden = i >= state.scale;
      if (i < state.scale) each.draw(gains[i + 1]!, true, Math.max(10, ...gains));
    });
    discount.select.value = state.discount;
    const { source: from } = tools.discounts[state.discount as keyof typeof tools.discounts];
    say(source, from);
    base.draw(state.base, hasBase(state.discount));
    const judged = [...state.grades.values()].filter((grade) => grade !== null).length;
    cutoff.draw(
      state.k ?? scores.depth,
      state.k !== null,
      Math.max(2, judged, ...state.lists.map((list) => list.length)),
    );
    whole.checked = state.k === null;
    scale.select.value = String(state.scale);
    const used = Math.max(1, ...[...state.grades.values()].map((grade) => grade ?? 0));
    for (const option of scale.select.options) option.disabled = Number(option.value) < used;
    const worth =
      typeof state.gain === "string" ? GAINS.find(([name]) => name === state.gain)![1] : gainText(state.gain);
    const by = isDiscounted(measured) ? ` · ${discountText(measured)}` : "";
    say(summary, isCumulated(state.measure) ? `${measureText(state)} · gain ${worth}${by}` : measureText(state));
    [...presets.children].forEach((each) => {
      const [patch] = PRESETS[each.textContent!]!;
      const holds = Object.entries(patch).every(([key, value]) => state[key as keyof typeof state] === value);
      each.setAttribute("aria-pressed", String(holds));
    });
  }
  return { node, summary, draw };
}
