// The controls that all views follow: gains of grades, discount, depth, average, and presets.
import { button, choices, h, plain, say, shown } from "../dom.ts";
import { isDiscounted, isNormalised } from "../measures.ts";
import type { BasePage, View } from "../page.ts";
import { initial, measuresOf, type Patch, readBase, type State } from "../state.ts";

const FORMULAS: Record<string, string> = {
  burges2005: "log_b(j + 1)",
  jarvelin2002: "log_b j from rank b on",
  jarvelin2000: "log_b j from rank 2 on",
  jarvelin2008: "1 + log_b j",
  rank: "j",
  none: "none",
};
/** With more grades than these there are no sliders, only maps of all grades. */
const MOST_SLIDERS = 8;

export const hasBase = (discount: string): boolean => discount !== "rank" && discount !== "none";

/** What divides a gain at rank j, as it is set. */
export function discountText(state: Pick<State, "measure" | "discount" | "base">): string {
  if (!isDiscounted(state as State)) return "no discount";
  return state.discount === "none"
    ? "no discount"
    : `÷ ${FORMULAS[state.discount]!.replace("_b", subscript(state.base)).replace("rank b", `rank ${state.base}`)}`;
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
    "all the same": map(() => 1),
    "ten times each": map((level) => 10 ** Math.min(above.indexOf(level), 12)),
  };
}

export function controls(page: BasePage): View & { summary: HTMLElement } {
  const { report } = page;
  const maps = gainMaps(report.levels, report.gains);
  const linear = maps["the grade"]!;
  const presets: Record<string, Patch> = {
    "As evaluated": (({ measure, discount, base, depth, average, gains, queryBase }) => ({
      measure,
      discount,
      base,
      depth,
      average,
      gains,
      queryBase,
    }))(initial(report)),
    Impatient: { discount: "jarvelin2002", base: 2, depth: Math.min(30, report.depth), gains: maps["ten times each"]! },
    Patient: { discount: "jarvelin2002", base: 10, depth: Math.min(200, report.depth), gains: linear },
  };
  if (report.sessions) {
    Object.assign(presets.Impatient!, { discount: "jarvelin2008", queryBase: 2, depth: Math.min(10, report.depth) });
    Object.assign(presets.Patient!, { discount: "jarvelin2008", queryBase: 10 });
  } else for (const each of [presets.Impatient!, presets.Patient!]) each.measure = "nDCG";
  const titles: Record<string, string> = {
    Impatient: "A very busy user, who looks at the best answers only",
    Patient: "A patient user, who reads on to late and marginal answers",
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

  /** A slider and a box for typing, which say the same. */
  function pair(label: string, low: number, high: number, step: number, set: (value: number) => void, title?: string) {
    const slider = h("input", {
      type: "range",
      min: low,
      max: high,
      step,
      "aria-label": `${label}, slider`,
      oninput: () => set(Number(slider.value)),
    });
    const box = h("input", {
      type: "number",
      min: low,
      step: "any",
      "aria-label": label,
      inputmode: "decimal",
      onchange: () => {
        const value = Number(box.value);
        if (box.value !== "" && Number.isFinite(value) && value >= low) set(value);
        else page.set({});
      },
    });
    const draw = (value: number): void => {
      slider.value = String(value);
      if (document.activeElement !== box || Number(box.value) !== value) box.value = plain(value);
      slider.style.setProperty(
        "--at",
        `${(100 * Math.min(1, Math.max(0, (value - low) / (high - low || 1)))).toFixed(1)}%`,
      );
    };
    return { node: h("div", { class: "slider", title }, h("span", { class: "label" }, label), slider, box), draw };
  }

  /** The same for a base of logarithms, which may be e. */
  function baseRow(label: string, set: (base: number | "e") => void, title = "A number above 1, or e") {
    const box = h("input", {
      type: "text",
      class: "base",
      "aria-label": label,
      inputmode: "decimal",
      onchange: () => {
        const found = readBase(box.value);
        box.toggleAttribute("aria-invalid", found === null);
        if (found !== null) set(found);
      },
    });
    const slider = h("input", {
      type: "range",
      min: 1.1,
      max: 20,
      step: 0.1,
      "aria-label": `${label}, slider`,
      oninput: () => set(Number(slider.value)),
    });
    const draw = (value: number | "e", isUsed: boolean): void => {
      box.disabled = slider.disabled = !isUsed;
      if (document.activeElement !== box || readBase(box.value) !== value) box.value = String(value);
      const number = value === "e" ? Math.E : value;
      slider.value = String(number);
      slider.style.setProperty("--at", `${Math.min(100, ((number - 1.1) / 18.9) * 100).toFixed(1)}%`);
    };
    return { node: h("div", { class: "slider", title }, h("span", { class: "label" }, label), slider, box), draw };
  }

  const depth = pair("Depth k", 1, report.depth, 1, (value) =>
    page.set({ depth: Math.min(report.depth, Math.max(1, Math.round(value))) }),
  );
  const top = Math.max(10, 2 * Math.max(...report.gains));
  const graded = report.levels.map((level, i) => ({ level, i })).filter(({ level }) => level >= 0);
  const sliders =
    graded.length > MOST_SLIDERS
      ? []
      : graded.map(({ level, i }) => {
          const called = report.levelNames?.[i];
          const label = `Grade ${plain(level)}`;
          return { i, ...pair(label, 0, top, 0.1, (value) => setGain(i, value), called ? shown(called) : undefined) };
        });
  function setGain(level: number, gain: number): void {
    page.set({ gains: page.state.gains.map((old, i) => (i === level ? Math.min(gain, 1e12) : old)) });
  }
  const map = choices(
    "Gains",
    [["", "own"], ...Object.keys(maps).map((text): [string, string] => [text, text])],
    (text) => {
      if (maps[text]) page.set({ gains: [...maps[text]!] });
    },
  );
  const discount = choices(
    "Discount",
    Object.entries(FORMULAS).map(([key, text]): [string, string] => [key, text]),
    (text) => page.set({ discount: text }),
  );
  const base = baseRow("Base b", (value) => page.set({ base: value }));
  const queryBase = baseRow(
    "Base bq",
    (value) => page.set({ queryBase: value }),
    "Discount by the query's position: 1 + log_bq q",
  );
  const average = choices(
    "Average",
    [
      ["ratios", "mean of ratios"],
      ["means", "ratio of means"],
    ],
    (text) => page.set({ average: text as State["average"] }),
  );

  const summary = h("span", { class: "now" });
  const node = h(
    "div",
    { class: "controls" },
    presetRow,
    measureRow,
    depth.node,
    map.node,
    sliders.map((slider) => slider.node),
    report.sessions ? [queryBase.node, base.node] : [discount.node, base.node, average.node],
  );

  function draw(): void {
    const { state } = page;
    radios.forEach((radio) => (radio.checked = radio.value === state.measure));
    depth.draw(state.depth);
    for (const slider of sliders) slider.draw(state.gains[slider.i]!);
    map.select.value = Object.keys(maps).find((text) => maps[text]!.join() === state.gains.join()) ?? "";
    discount.select.value = state.discount;
    discount.select.disabled = !isDiscounted(state);
    base.draw(state.base, isDiscounted(state) && hasBase(state.discount));
    queryBase.draw(state.queryBase, true);
    average.select.value = state.average;
    average.select.disabled = !isNormalised(state);
    const gains = sliders.length ? ` · gains ${sliders.map(({ i }) => plain(state.gains[i]!)).join(" ")}` : "";
    const how = report.sessions ? `bq ${state.queryBase} · b ${state.base}` : discountText(state);
    say(summary, `${state.measure}@${state.depth}${gains} · ${how}`);
    [...presetRow.children].forEach((button) => {
      const patch = presets[button.textContent!]!;
      const holds = Object.entries(patch).every(([key, value]) => String(state[key as keyof State]) === String(value));
      button.setAttribute("aria-pressed", String(holds));
    });
  }
  return { node, draw, summary };
}
