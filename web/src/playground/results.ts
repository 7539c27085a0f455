// Results: scores, curves, the arithmetic and the values of other tools.
import { type Child, copyButton, fixed, h, listed, plain, put, say, signed, svg, tableBox } from "../dom.ts";
import { swatch } from "../page.ts";
import { LISTS, type Playground } from "./page.ts";
import { type Column, othersOf } from "./scores.ts";
import { at, command, gainsOf, measureText, type Name, NAMES, type Side, SIDES, type State } from "./state.ts";
import tools from "./tools.json";

interface Part {
  node: HTMLElement;
  draw(): void;
}

const part = (id: string, title: string, ...children: (Child | Child[])[]): HTMLElement =>
  h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);

/** Counts and gains without trailing zeros, other values with four decimals. */
const cellText = (column: string, value: number | null | undefined): string =>
  value == null ? "" : /^(ideal )?gain$|^relevant$|^found$/.test(column) ? plain(value) : fixed(value);
/** Integers without decimals, other numbers with four. */
const number = (value: number): string => (Number.isInteger(value) ? plain(value) : fixed(value));
const minus = (text: string): string => text.replaceAll(" - ", " − ");
const list = (page: Playground, side: Side): HTMLElement =>
  h("span", { class: "system" }, swatch(page, side), LISTS[side]);

/** A path through the values at ranks 1, 2, ... */
const pathOf = (values: number[], x: (rank: number) => number, y: (value: number) => number): string =>
  values.map((value, r) => `${r ? "L" : "M"}${x(r + 1).toFixed(1)} ${y(value).toFixed(1)}`).join("");

/** Tiles with every measure of both lists; the chosen one determines the sections below. */
export function measures(page: Playground): Part {
  const tiles = NAMES.map((name) => {
    const input = h("input", {
      type: "radio",
      name: "measure",
      value: name,
      onchange: () => page.set({ measure: name }, `${name}.`),
    });
    const [title, spark] = [
      h("span", { class: "name" }),
      svg("svg", { viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" }),
    ];
    const values = SIDES.map(() => h("span", { class: "value" }));
    const lines = SIDES.map((side) =>
      h("span", { class: "line" }, swatch(page, side), h("span", { class: "hidden" }, LISTS[side]), values[side]),
    );
    const node = h("label", { class: "tile", title: tools.measures[name].claim }, input, title, spark, lines);
    return { name, node, input, title, spark, values };
  });
  const claim = h("p", { class: "note" });
  const node = h(
    "section",
    { id: "scores", "aria-labelledby": "scores-title" },
    h("h2", { id: "scores-title", class: "hidden" }, "Scores"),
    h(
      "fieldset",
      { class: "tiles" },
      h("legend", { class: "hidden" }, "Measure"),
      tiles.map((tile) => tile.node),
    ),
    claim,
  );
  function draw(): void {
    const { state, scores } = page;
    for (const { name, input, title, spark, values } of tiles) {
      input.checked = name === state.measure;
      say(title, name + at(state));
      const worked = scores.worked[name];
      const k = state.k ?? scores.depth;
      const most = Math.max(
        1e-12,
        ...worked.flatMap(({ curve }) => curve.slice(0, k)),
        ...(scores.shared[name].ideal ?? [1]).slice(0, k),
      );
      put(
        spark,
        SIDES.map((side) =>
          svg("path", {
            d: pathOf(
              worked[side].curve.slice(0, k),
              (rank) => (100 * (rank - 1)) / Math.max(1, k - 1),
              (value) => 26 - (24 * value) / most,
            ),
            stroke: `var(--hue-${side})`,
            "vector-effect": "non-scaling-stroke",
          }),
        ),
      );
      SIDES.forEach((side) => {
        say(values[side]!, fixed(worked[side].value));
        values[side]!.classList.toggle("best", worked[side].value > worked[1 - side]!.value + 1e-12);
      });
    }
    const { claim: about } = tools.measures[state.measure];
    const binary = state.measure === "AP" || state.measure === "RR" ? " Relevant: every grade above 0." : "";
    const cascade = state.measure === "ERR" ? " Its gain is always 2^grade − 1." : "";
    say(claim, `${state.measure}: ${about}${binary}${cascade}`);
  }
  return { node, draw };
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5, 1e6, 1e7];

/** The chosen measure at every rank. */
export function curves(page: Playground): Part {
  const box = h("div", { class: "plot" });
  const legend = h("p", { class: "legend flat" });
  const node = part("curves", "By rank", legend, box);
  let pointed: number | null = null;
  new ResizeObserver(() => box.firstChild && draw()).observe(box);

  function draw(): void {
    const { state, scores, looks } = page;
    const { measure } = state;
    const [worked, ideal] = [scores.worked[measure], scores.shared[measure].ideal];
    const width = Math.max(260, box.clientWidth || 600);
    const height = Math.round(Math.min(300, Math.max(190, width * 0.42)));
    const [left, right, top, bottom] = [38, width - 14, 10, height - 26];
    const depth = Math.max(2, scores.depth);
    const most = Math.max(ideal ? 0 : 1, ...worked.flatMap(({ curve }) => curve), ...(ideal ?? [])) || 1;
    const x = (rank: number): number => left + ((right - left) * (rank - 1)) / (depth - 1);
    const y = (value: number): number => bottom - ((bottom - top) * value) / most;
    const step = most <= 1 ? 0.2 : (STEPS.find((each) => most / each <= 6) ?? most / 5);
    const ticks = Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
    const every = Math.ceil(depth / ((right - left) / 26));
    const ranks = Array.from({ length: depth }, (_, r) => r + 1);
    const k = state.k ?? scores.depth;
    const rank = pointed ?? k;
    const picture = svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "img",
        "aria-label": `${measure} of both lists by rank; the arithmetic below has the values`,
      },
      ...ticks.map((value) => svg("path", { class: "grid", d: `M${left} ${y(value)}H${right}` })),
      ...ticks.map((value) => svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, plain(value))),
      ...ranks.map((each) =>
        (each - 1) % every ? null : svg("text", { x: x(each), y: height - 8, "text-anchor": "middle" }, String(each)),
      ),
      state.k === null ? null : svg("path", { class: "at", d: `M${x(state.k)} ${top}V${bottom}` }),
      pointed === null ? null : svg("path", { class: "pointed", d: `M${x(pointed)} ${top}V${bottom}` }),
      ideal && svg("path", { class: "ideal", d: pathOf(ideal, x, y) }),
      ...SIDES.map((side) =>
        svg("path", {
          class: "curve",
          d: pathOf(worked[side].curve, x, y),
          stroke: looks.hue(side),
          "stroke-dasharray": looks.dash(side, 2).join(" ") || null,
        }),
      ),
      ...SIDES.map((side) =>
        svg("circle", { cx: x(rank), cy: y(worked[side].curve[rank - 1] ?? 0), r: 4, fill: looks.hue(side) }),
      ),
    );
    const rankAt = (event: MouseEvent): number => {
      const inside = event.clientX - picture.getBoundingClientRect().left;
      return Math.min(scores.depth, Math.max(1, Math.round(1 + ((inside - left) / (right - left)) * (depth - 1))));
    };
    picture.addEventListener("pointermove", (event) => {
      const found = rankAt(event as PointerEvent);
      if (found !== pointed) ((pointed = found), draw());
    });
    picture.addEventListener("pointerleave", () => ((pointed = null), draw()));
    picture.addEventListener("click", (event) => page.set({ k: rankAt(event as MouseEvent) }, "Cutoff changed."));
    put(box, picture);
    put(
      legend,
      h("span", {}, `${measure} at rank ${rank}`),
      SIDES.map((side) =>
        h("span", {}, list(page, side), " ", h("span", { class: "number" }, fixed(worked[side].curve[rank - 1] ?? 0))),
      ),
      ideal &&
        h(
          "span",
          {},
          h("span", { class: "system" }, h("span", { class: "swatch line" }), "ideal"),
          " ",
          h("span", { class: "number" }, fixed(ideal[rank - 1] ?? 0)),
        ),
    );
  }
  return { node, draw };
}

/** The steps to a list's score, in one line. */
function stepsOf(page: Playground, side: Side): string {
  const { state, scores } = page;
  const { measure } = state;
  const worked = scores.worked[measure][side];
  const k = state.k ?? scores.depth;
  const name = measureText(state);
  const column = (columns: Column[], text: string): number[] =>
    (columns.find((each) => each.name === text)?.values ?? []).slice(0, k).map((value) => value ?? 0);
  const terms = (values: number[]): string =>
    values
      .filter((value) => value > 0)
      .map(number)
      .join(" + ") || "0";
  if (worked.undefined) return `${name} is 0: ${worked.undefined}.`;
  if (measure === "RR") {
    const first = worked.adds.findIndex((value) => value > 0) + 1;
    return first && first <= k
      ? `${name} = 1 / ${first} = ${number(worked.value)}`
      : `${name} = 0: no relevant document${state.k ? ` in the top ${k}` : ""}.`;
  }
  const adds = terms(worked.adds.slice(0, k));
  if (measure === "CG" || measure === "DCG" || measure === "ERR") return `${name} = ${adds} = ${number(worked.value)}`;
  if (measure === "AP") {
    const total = column(worked.columns, "sum").at(-1) ?? 0;
    const relevant = [...state.grades.values()].filter((grade) => (grade ?? 0) > 0).length;
    return `${name} = (${adds}) / ${relevant} = ${number(total)} / ${relevant} = ${number(worked.value)}`;
  }
  const total = measure.replace("n", "");
  const [own, ideal] = [
    column(worked.columns, total).at(-1) ?? 0,
    column(scores.shared[measure].columns, `ideal ${total}`).at(-1) ?? 0,
  ];
  return `${total} = ${adds} = ${number(own)}; ${name} = ${number(own)} / ${number(ideal)} = ${number(worked.value)}`;
}

export function arithmetic(page: Playground): Part {
  const table = h("table", { class: "dense arithmetic" });
  const formula = h("p", { class: "note" });
  const steps = SIDES.map(() => h("p", { class: "steps" }));
  const toggle = h(
    "fieldset",
    { class: "segments which-list" },
    h("legend", { class: "hidden" }, "List of the arithmetic"),
    SIDES.map((side) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name: "of", checked: !side, onchange: () => (table.dataset.only = String(side)) }),
        h("span", {}, LISTS[side]),
      ),
    ),
  );
  table.dataset.only = "0";
  const copies = SIDES.map((side) => copyButton("Copy as command", () => command(page.state, side)));
  copies.forEach((each, side) => each.setAttribute("aria-describedby", `steps-${side}`));
  const node = part(
    "arithmetic",
    "Arithmetic",
    formula,
    SIDES.map((side) =>
      h("div", { class: "result", id: `steps-${side}` }, list(page, side), steps[side], copies[side]),
    ),
    toggle,
    tableBox("Arithmetic, rank by rank", table),
  );
  function draw(): void {
    const { state, scores } = page;
    const { measure } = state;
    const worked = scores.worked[measure];
    const shared = scores.shared[measure].columns;
    const [discount, ideal] = [
      shared.filter(({ name }) => name === "discount"),
      shared.filter(({ name }) => name !== "discount"),
    ];
    say(formula, minus(tools.measures[measure].formula));
    SIDES.forEach((side) => say(steps[side]!, stepsOf(page, side)));
    // The command needs at least one document and one judgment.
    const isJudged = [...state.grades.values()].some((grade) => grade !== null);
    SIDES.forEach((side) => (copies[side]!.disabled = !isJudged || !state.lists[side].length));
    const rows = Array.from({ length: state.k ?? scores.depth }, (_, r) => r);
    const gains = gainsOf(state.gain, state.scale);
    // Linear gains would repeat the column of grades.
    const isTold = ({ name }: Column): boolean =>
      name !== "gain" || measure === "ERR" || gains.some((gain, grade) => gain !== grade);
    const own = SIDES.map((side) => worked[side].columns.filter(isTold));
    const cell = ({ name, values }: Column, r: number, kind = ""): HTMLElement =>
      h("td", { class: `number ${kind}` }, cellText(name, values[r]));
    const head = (text: string, kind = ""): HTMLElement => h("th", { scope: "col", class: `number ${kind}` }, text);
    const groups = SIDES.map((side) =>
      h("th", { scope: "colgroup", colspan: own[side]!.length + 1, class: `group of-${side}` }, list(page, side)),
    );
    put(
      table,
      h("caption", { class: "hidden" }, `${measureText(state)}, rank by rank`),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", { colspan: 1 + discount.length }),
          groups,
          ideal.length ? h("th", { scope: "colgroup", colspan: ideal.length, class: "group" }, "ideal list") : null,
        ),
        h(
          "tr",
          {},
          head("rank"),
          discount.map(({ name }) => head(name)),
          SIDES.flatMap((side) => [
            head("grade", `of-${side} first`),
            ...own[side]!.map(({ name }) => head(name, `of-${side}`)),
          ]),
          ideal.map(({ name }, i) => head(name.replace("ideal ", ""), i ? "" : "first")),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((r) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", class: "number" }, String(r + 1)),
            discount.map((column) => cell(column, r)),
            SIDES.flatMap((side) => {
              const id = state.lists[side][r];
              const grade = id === undefined ? "" : (state.grades.get(id) ?? "–");
              return [
                h("td", { class: `number of-${side} first` }, h("span", { class: "id" }, id ?? ""), String(grade)),
                ...own[side]!.map((column) => cell(column, r, `of-${side}`)),
              ];
            }),
            ideal.map((column, i) => cell(column, r, i ? "" : "first")),
          ),
        ),
      ),
    );
  }
  return { node, draw };
}

export function others(page: Playground): Part {
  const summary = h("p", {});
  const table = h("table", { class: "others" });
  const box = tableBox("What other tools print", table);
  const notes = h("p", { class: "note" });
  const node = part("tools", "What other tools print", summary, box, notes);
  const count = (n: number): string => (n === 1 ? "one value" : `${n} different values`);

  function draw(): void {
    const { state } = page;
    const found = othersOf(state);
    const name = state.measure + at(state);
    box.hidden = !found.length;
    const { agrees, differs } = tools.measures[state.measure];
    if (!found.length) {
      say(summary, `No tool's conventions for ${name} are recorded.`);
      say(
        notes,
        [agrees && `Agrees with: ${agrees}.`, differs && `Differs from: ${differs}.`].filter(Boolean).join(" "),
      );
      return;
    }
    const names = found.flatMap((each) => each.tools).length;
    const different = new Set(found.map(({ values }) => number(values[0]))).size;
    const prefer = (sign: number): number =>
      found
        .filter(({ values: [one, two] }) => Math.sign(Math.round((one - two) * 1e9)) === sign)
        .flatMap((each) => each.tools).length;
    const votes = [
      [prefer(1), "prefer List 1", "prefers List 1"],
      [prefer(-1), "prefer List 2", "prefers List 2"],
      [prefer(0), "see no difference", "sees no difference"],
    ] as const;
    const cast = votes.filter(([n]) => n);
    const opinion =
      cast.length === 1
        ? `All ${cast[0]![1]}.`
        : `${listed(cast.map(([n, many, one]) => `${n} ${n === 1 ? one : many}`))}.`;
    say(summary, `For List 1, ${names} tools and papers print ${count(different)} of ${name}. ${opinion}`);
    put(
      table,
      h("caption", { class: "hidden" }, `${name} as other tools compute it`),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Tool or paper"),
          SIDES.map((side) => h("th", { scope: "col", class: "number" }, LISTS[side])),
          h("th", { scope: "col" }, "Difference from your settings"),
        ),
      ),
      h(
        "tbody",
        {},
        found.map(({ tools: known, values, different: words }) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row" },
              known.flatMap((tool, i) => [i ? ", " : "", h("span", { class: "tool" }, tool)]),
              h("small", { class: "below" }, minus(words.join("; "))),
            ),
            values.map((value, side) =>
              h(
                "td",
                { class: `number${value > values[1 - side]! + 1e-12 ? " best" : ""}` },
                Number.isNaN(value) ? "no value" : fixed(value),
              ),
            ),
            h("td", { class: "text" }, minus(words.join("; ")) || "none"),
          ),
        ),
      ),
    );
    say(notes, "Conventions as read from the tools' sources and the papers, for one query without ties.");
  }
  return { node, draw };
}

/** The chosen measure of both lists in one line, shown next to the lists. */
export function current(page: Playground): Part {
  const node = h("p", { class: "current" });
  function draw(): void {
    const { state, scores } = page;
    const [one, two] = scores.worked[state.measure];
    put(
      node,
      h("strong", {}, state.measure + at(state)),
      SIDES.map((side) => {
        const name = h("span", { class: "hidden" }, LISTS[side]);
        return h("span", { class: "system number" }, swatch(page, side), name, fixed([one, two][side]!.value));
      }),
      h("span", { class: "number difference", title: "List 2 minus List 1" }, signed(two.value - one.value)),
    );
  }
  return { node, draw };
}

export const announcement = ({ measure, ...state }: State, scores: Playground["scores"]): string =>
  `${measure}${at({ measure, ...state })}: ${SIDES.map((side) => `${LISTS[side]} ${fixed(scores.worked[measure as Name][side].value)}`).join(", ")}.`;
