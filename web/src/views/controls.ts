// The controls that all views follow: gains of grades, discount, depth, average, and presets.
import { button, choices, h, listed, plain, say } from "../dom.ts";
import { readNumber, slider } from "../fields.ts";
import { isDiscounted, isNormalised } from "../measures.ts";
import { type BasePage, liveName, type View } from "../page.ts";
import { controlsOf, initial, measuresOf, type Patch, readBase, type State } from "../state.ts";

const FORMULAS: Record<string, string> = {
  burges2005: "log_b(j + 1)",
  jarvelin2002: "log_b j for ranks ≥ b",
  jarvelin2000: "log_b j for ranks ≥ 2",
  jarvelin2008: "1 + log_b j",
  rank: "j",
  none: "none",
};
/** Most grades with a slider each; with more, only maps of all grades are offered. */
const MOST_SLIDERS = 8;

export const hasBase = (discount: string): boolean => discount !== "rank" && discount !== "none";

/** The current divisor of a gain at rank j. */
export function discountText(state: Pick<State, "measure" | "discount" | "base">): string {
  if (!isDiscounted(state as State)) return "no discount";
  return state.discount === "none"
    ? "no discount"
    : `÷ ${FORMULAS[state.discount]!.replace("_b", subscript(state.base)).replace("≥ b", `≥ ${state.base}`)}`;
}

const subscript = (base: number | "e"): string =>
  base === "e"
    ? "ₑ"
    : Number.isInteger(base)
      ? [...String(base)].map((d) => "₀₁₂₃₄₅₆₇₈₉"[Number(d)]).join("")
      : `_${base}`;

/** Maps of all grades at once, by name. */
export function gainMaps(levels: number[], given: number[]): Record<string, number[]> {
  const above = levels.filter((level) => level > 0);
  const map = (gain: (level: number) => number): number[] => levels.map((level) => (level > 0 ? gain(level) : 0));
  return {
    "as evaluated": given,
    "the grade": map((level) => level),
    "2^grade − 1": map((level) => (level < 1 ? Math.expm1(level * Math.LN2) : 2 ** level - 1)),
    "all equal": map(() => 1),
    "tenfold": map((level) => 10 ** Math.min(above.indexOf(level), 12)),
  };
}

/** The controls, a short summary of their settings, and a longer one for print. */
export function controls(page: BasePage): View & { summary: HTMLElement; words: HTMLElement } {
  const { report } = page;
  const maps = gainMaps(report.levels, report.gains);
  const linear = maps["the grade"]!;
  const presets: Record<string, Patch> = {
    "As evaluated": controlsOf(initial(report)),
    Impatient: { discount: "jarvelin2002", base: 2, gains: maps["tenfold"]! },
    Patient: { discount: "jarvelin2002", base: 10, gains: linear },
  };
  if (report.sessions) {
    Object.assign(presets.Impatient!, { discount: "jarvelin2008", queryBase: 2 });
    Object.assign(presets.Patient!, { discount: "jarvelin2008", queryBase: 10 });
  } else for (const each of [presets.Impatient!, presets.Patient!]) each.measure = "nDCG";
  const titles: Record<string, string> = {
    Impatient: "A busy user who reads only the best results",
    Patient: "A patient user who also reads late and marginal results",
  };
  const presetRow = h(
    "div",
    { class: "presets", role: "group", "aria-label": "Presets" },
    Object.entries(presets).map(([text, patch]) => button(text, () => page.set(patch), { title: titles[text] })),
  );
  const measures = measuresOf(report);
  const radios = measures.map((measure) =>
    h("input", { type: "radio", name: "measure", value: measure, onchange: () => page.set({ measure }) }),
  );
  const measureRow = h(
    "fieldset",
    { class: "segments" },
    h("legend", {}, "Measure"),
    measures.map((measure, i) => h("label", {}, radios[i], h("span", {}, measure))),
  );

  const baseSlider = (label: string, set: (base: number | "e") => void, title = "A number above 1, or e") =>
    slider(label, [1.1, 20, 0.1], readBase, set, title);

  const depth = slider("Depth k", [1, report.depth, 1], readNumber(1), (value) =>
    page.set({ depth: Math.min(report.depth, Math.max(1, Math.round(value))) }),
  );
  const usualTop = Math.max(10, 2 * Math.max(...report.gains));
  let top = usualTop;
  const graded = report.levels.map((level, i) => ({ level, i })).filter(({ level }) => level >= 0);
  const sliders = (graded.length > MOST_SLIDERS ? [] : graded).map(({ level, i }) => {
    const set = (value: number): void => setGain(i, value);
    return { i, level, ...slider(`Grade ${plain(level)}`, [0, usualTop, 0.1], readNumber(0), set) };
  });
  function setGain(level: number, gain: number): void {
    page.set({ gains: page.state.gains.map((old, i) => (i === level ? Math.min(gain, 1e12) : old)) });
  }
  const map = choices(
    "Gains",
    [["", "custom"], ...Object.keys(maps).map((text): [string, string] => [text, text])],
    (text) => {
      if (maps[text]) page.set({ gains: [...maps[text]!] });
    },
  );
  const discount = choices(
    "Discount",
    Object.entries(FORMULAS).map(([key, text]): [string, string] => [key, text]),
    (text) => page.set({ discount: text }),
  );
  const base = baseSlider("Base b", (value) => page.set({ base: value }));
  const queryBase = baseSlider(
    "Base bq",
    (value) => page.set({ queryBase: value }),
    "Discount by the query's position: 1 + log_bq q",
  );
  const averaging = choices(
    "Average",
    [
      ["ratios", "mean of ratios"],
      ["means", "ratio of means"],
    ],
    (text) => page.set({ average: text as State["average"] }),
  );

  const summary = h("span", { class: "now" });
  const words = h("p", { class: "on-paper" });
  const node = h(
    "div",
    { class: "controls" },
    presetRow,
    measureRow,
    depth.node,
    map.node,
    sliders.map((slider) => slider.node),
    report.sessions ? [queryBase.node, base.node] : [discount.node, base.node, averaging.node],
  );

  function draw(): void {
    const { state } = page;
    radios.forEach((radio) => (radio.checked = radio.value === state.measure));
    depth.draw(state.depth);
    // Sliders extend to the largest gain, but do not change while they are dragged.
    if (!sliders.some(({ node }) => node.contains(document.activeElement))) top = usualTop;
    top = Math.max(top, ...sliders.map(({ i }) => state.gains[i]!));
    for (const slider of sliders) slider.draw(state.gains[slider.i]!, true, top);
    map.select.value = Object.keys(maps).find((text) => maps[text]!.join() === state.gains.join()) ?? "";
    discount.select.value = state.discount;
    discount.select.disabled = !isDiscounted(state);
    base.draw(state.base, isDiscounted(state) && hasBase(state.discount));
    queryBase.draw(state.queryBase, true);
    averaging.select.value = state.average;
    averaging.select.disabled = !isNormalised(state);
    const gains = sliders.length ? ` · gains ${sliders.map(({ i }) => plain(state.gains[i]!)).join(" ")}` : "";
    const short = report.sessions ? `base ${state.queryBase} by query, ${state.base} by rank` : discountText(state);
    say(summary, `${liveName(page)}${gains} · ${short}`);
    const bases = `discount base ${state.queryBase} for queries and ${state.base} for ranks`;
    const how = report.sessions ? bases : short.replace("÷", "gains at rank j ÷");
    const worth = graded.map(({ level, i }) => `${plain(state.gains[i]!)} for grade ${plain(level)}`);
    const average = isNormalised(state) && !report.sessions ? `; ${averaging.select.selectedOptions[0]!.text}` : "";
    say(
      words,
      `Settings: ${state.measure} to depth ${state.depth}; gains ${
        sliders.length ? listed(worth) : (map.select.value || "custom")
      }; ${how}${average}.`,
    );
    [...presetRow.children].forEach((button) => {
      const patch = presets[button.textContent!]!;
      const holds = Object.entries(patch).every(([key, value]) => String(state[key as keyof State]) === String(value));
      button.setAttribute("aria-pressed", String(holds));
    });
  }
  return { node, draw, summary, words };
}
