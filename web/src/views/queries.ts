// Per-query scores: one system against the other, sorted differences, filters, and a sortable table.
import type uPlot from "uplot";
import { Chart, rule } from "../chart.ts";
import {
  button,
  byValue,
  choices,
  copyButton,
  count,
  download,
  fixed,
  h,
  type Heading,
  put,
  say,
  shown,
  signed,
  sortableHead,
  tableBox,
} from "../dom.ts";
import { isNormalised } from "../measures.ts";
import { hasPair, liveName, openQuery, type Page, section, type View, weighted } from "../page.ts";

const FIRST = 15;
const HINT = "Point at a query to see its scores; click to open it.";
const MORE = 50;
const NEAR = 14; // largest distance in pixels between the pointer and its point

/** The queries that pass the filters, in the order of the table. */
export function chosenQueries(page: Page): Uint32Array {
  const { report, state, live } = page;
  const n = report.queries.length;
  const [one, other] = [state.system * n, state.other * n];
  const values = state.column ? report.segments?.[state.column] : undefined;
  const find = state.find.trim().toLocaleLowerCase();
  const found = new Uint32Array(n);
  let size = 0;
  for (let q = 0; q < n; q++) {
    if (values && state.value && String(values[q] ?? "") !== state.value) continue;
    if (
      find &&
      !report.queries[q]!.toLocaleLowerCase().includes(find) &&
      !report.texts?.[q]?.toLocaleLowerCase().includes(find)
    )
      continue;
    if (state.lost > 0 && !(live.scores[other + q]! - live.scores[one + q]! > state.lost)) continue;
    found[size++] = q;
  }
  const key = sortKey(page);
  const chosen = found.subarray(0, size);
  if (key) chosen.sort(byValue(key, state.up));
  else if (!state.up) chosen.reverse();
  return chosen;
}

function sortKey(page: Page): ((q: number) => number) | null {
  const { state, live, report } = page;
  const n = report.queries.length;
  const [one, other] = [state.system * n, state.other * n];
  if (state.order === "system") return (q) => live.scores[one + q]!;
  if (state.order === "other") return (q) => live.scores[other + q]!;
  if (state.order === "difference") return (q) => live.scores[one + q]! - live.scores[other + q]!;
  return null;
}

export function queries(page: Page): View {
  const { report, looks, live } = page;
  const n = report.queries.length;
  let chosen = new Uint32Array(0);
  let sorted = new Uint32Array(0); // by decreasing difference
  let rows = FIRST;
  let pointed = -1;
  const score = (s: number, q: number): number => live.scores[s * n + q]!;
  const isPair = hasPair(page);
  /** The difference between two systems; the score of a single one. */
  const difference = (q: number): number =>
    score(page.state.system, q) - (isPair ? score(page.state.other, q) : 0);
  const open = (q: number): void => void (q >= 0 && openQuery(page, q));

  // Filters.
  const find = h("input", {
    type: "search",
    placeholder: report.texts ? "ID or text" : "ID",
    oninput: () => {
      rows = FIRST;
      page.set({ find: find.value });
    },
  });
  const lost = h("input", {
    type: "number",
    min: 0,
    step: 0.05,
    inputmode: "decimal",
    oninput: () => {
      rows = FIRST;
      page.set({ lost: Math.max(0, Number(lost.value) || 0) });
    },
  });
  const columns = Object.keys(report.segments ?? {}).filter(
    (each) => String(report.segments![each]) !== String(report.texts),
  );
  const column = choices(
    "Segment",
    [["", "all"], ...columns.map((each): [string, string] => [each, shown(each)])],
    (value) => page.set({ column: value, value: "" }),
  );
  const value = choices("Value", [["", "all"]], (text) => page.set({ value: text }));
  const lostLabel = h("span", {});
  const clear = button("Clear filters", () => page.set({ find: "", lost: 0, column: "", value: "" }));
  const filters = h(
    "div",
    { class: "filters", role: "group", "aria-label": "Filters" },
    h("label", { class: "field" }, h("span", {}, "Find"), find),
    columns.length > 0 && [column.node, value.node],
    isPair && h("label", { class: "field" }, lostLabel, lost),
    clear,
  );

  // Charts.
  function highest(): number {
    let top = isNormalised(page.state) ? 1 : 1e-9;
    for (const q of chosen) top = Math.max(top, score(page.state.system, q) || 0, score(page.state.other, q) || 0);
    return top * 1.03;
  }
  const mark = (context: CanvasRenderingContext2D, x: number, y: number): void => {
    context.strokeStyle = looks.ink;
    context.lineWidth = 2 * devicePixelRatio;
    context.beginPath();
    context.arc(x, y, 6 * devicePixelRatio, 0, 7);
    context.stroke();
  };
  const scatter = new Chart(page, {
    label: "Per-query scores of the two systems; the table below has the values",
    aspect: 1,
    x: { label: () => looks.name(page.state.other, 24), range: () => [-0.02 * highest(), highest()] },
    y: { label: () => looks.name(page.state.system, 24), range: () => [-0.02 * highest(), highest()] },
    paint: (plot, context) => {
      const top = highest();
      rule(plot, looks.soft, [0, 0], [top, top]);
      const isMany = chosen.length > 1000;
      const radius = (isMany ? 1.2 : chosen.length > 200 ? 2.6 : 3.6) * devicePixelRatio;
      const opacity = isMany ? 0.4 : 0.6;
      const [x0, y0] = [plot.valToPos(0, "x", true), plot.valToPos(0, "y", true)];
      const [dx, dy] = [plot.valToPos(1, "x", true) - x0, plot.valToPos(1, "y", true) - y0];
      for (const winner of [page.state.other, page.state.system]) {
        context.fillStyle = looks.pale(looks.hue(winner), opacity);
        for (const q of chosen) {
          const d = difference(q);
          if (Number.isNaN(d) || (winner === page.state.system ? d <= 0 : d > 0)) continue;
          const [x, y] = [x0 + dx * score(page.state.other, q), y0 + dy * score(page.state.system, q)];
          if (isMany) context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
          else {
            context.beginPath();
            context.arc(x, y, radius, 0, 7);
            context.fill();
          }
        }
      }
      if (pointed >= 0)
        mark(context, x0 + dx * score(page.state.other, pointed), y0 + dy * score(page.state.system, pointed));
    },
    point: (at) => point(at && nearest(at.plot, at.x, at.y)),
    click: ({ plot, x, y }) => open(nearest(plot, x, y)),
  });
  function nearest(plot: uPlot, x: number, y: number): number {
    let [best, least] = [-1, NEAR * NEAR];
    const [left, top] = [plot.valToPos(x, "x"), plot.valToPos(y, "y")];
    for (const q of chosen) {
      const [a, b] = [
        plot.valToPos(score(page.state.other, q), "x") - left,
        plot.valToPos(score(page.state.system, q), "y") - top,
      ];
      if (a * a + b * b < least) [best, least] = [q, a * a + b * b];
    }
    return best;
  }
  function widest(): number {
    let top = 0;
    for (const q of sorted) top = Math.max(top, Math.abs(difference(q)) || 0);
    return (top || 1) * 1.05;
  }
  const bars = new Chart(page, {
    label: `${isPair ? "Differences between the two systems" : "Scores"}, sorted; the table below has the values`,
    x: {
      label: () => `queries, sorted by ${isPair ? "difference" : "score"}`,
      isWhole: true,
      range: () => [0, Math.max(1, sorted.length)],
    },
    y: { label: () => (isPair ? "difference" : "score"), range: () => [isPair ? -widest() : 0, widest()] },
    paint: (plot, context) => {
      const [x0, x1] = [plot.valToPos(0, "x", true), plot.valToPos(1, "x", true)];
      const [y0, y1] = [plot.valToPos(0, "y", true), plot.valToPos(1, "y", true)];
      const gap = x1 - x0 > 4 * devicePixelRatio ? devicePixelRatio : 0;
      const width = x1 - x0;
      const every = Math.max(1, 1 / width); // with more queries than pixels, one per pixel
      for (let i = 0; i < sorted.length; i += every) {
        const d = difference(sorted[Math.floor(i)]!);
        context.fillStyle = d > 0 ? looks.hue(page.state.system) : looks.hue(page.state.other);
        const from = Math.round(x0 + i * width);
        context.fillRect(from, y0, Math.max(1, Math.round(x0 + (i + 1) * width) - from - gap), d * (y1 - y0));
      }
      rule(plot, looks.soft, [0, 0], [sorted.length, 0]);
      const i = pointed < 0 ? -1 : sorted.indexOf(pointed);
      if (i >= 0) mark(context, x0 + (i + 0.5) * (x1 - x0), y0 + difference(pointed) * (y1 - y0));
    },
    point: (at) => point(at && (sorted[Math.floor(at.x)] ?? -1)),
    click: ({ x }) => open(sorted[Math.floor(x)] ?? -1),
  });
  function described(q: number): string {
    const text = report.texts?.[q];
    const pair = `${fixed(score(page.state.system, q))} against ${fixed(score(page.state.other, q))}`;
    const scores = isPair ? `${pair}, ${signed(difference(q))}` : fixed(difference(q));
    return `${shown(report.queries[q]!)}${text ? ` “${shown(text)}”` : ""}: ${scores}`;
  }
  const readout = h("p", { class: "note readout" });
  function point(q: number | null): void {
    const next = q ?? -1;
    if (next === pointed) return;
    pointed = next;
    say(readout, pointed < 0 ? HINT : described(pointed));
    scatter.repaint();
    bars.repaint();
  }

  // Table.
  const head = sortableHead(
    [
      { text: "Query", key: "query" },
      ...(report.texts ? [{ text: "Text" }] : []),
      ...columns.map((each) => ({ text: shown(each), className: "segment" })),
      { text: "system", key: "system", isNumber: true },
      ...(isPair
        ? [
            { text: "other", key: "other", isNumber: true },
            { text: "Difference", key: "difference", isNumber: true },
          ]
        : []),
    ] satisfies Heading[],
    () => ({ key: page.state.order, falling: !page.state.up }),
    (key, falling) => page.set({ order: key, up: !falling }),
  );
  const buttons = head.row.querySelectorAll("button");
  const body = h("tbody");
  const table = h(
    "table",
    {},
    h("caption", { class: "hidden" }, "Scores query by query"),
    h("thead", {}, head.row),
    body,
  );
  const more = button(
    "Show more",
    () => {
      rows += MORE;
      drawTable();
    },
    { class: "more" },
  );
  const words = h("p", { "aria-live": "polite" });
  /** Everything that shows queries. */
  const found = h(
    "div",
    {},
    isPair ? h("div", { class: "two" }, scatter.node, bars.node) : bars.node,
    readout,
    tableBox("Scores query by query", table),
    more,
  );
  const save = download("Download as CSV", "queries.csv", () => {
    const [one, other] = [page.state.system, page.state.other];
    const pair = isPair ? [report.systems[other]!, "difference"] : [];
    return [
      ["query", ...(report.texts ? ["text"] : []), ...columns, report.systems[one]!, ...pair],
      ...[...chosen].map((q) => [
        report.queries[q],
        ...(report.texts ? [report.texts[q]] : []),
        ...columns.map((each) => report.segments![each]![q]),
        score(one, q),
        ...(isPair ? [score(other, q), difference(q)] : []),
      ]),
    ];
  });
  const copies = h("div", { class: "buttons" }, copyButton("Copy this sentence", () => words.textContent!), save);
  const node = section("queries", "Query by query", filters, words, copies, found);

  function drawTable(): void {
    const most = Math.min(rows, chosen.length);
    while (body.rows.length > most) body.lastChild!.remove();
    while (body.rows.length < most) body.append(emptyRow());
    for (let i = 0; i < most; i++) {
      const q = chosen[i]!;
      const cells = body.rows[i]!.cells;
      const link = cells[0]!.firstChild as HTMLButtonElement;
      link.dataset.query = String(q);
      say(link, shown(report.queries[q]!));
      body.rows[i]!.classList.toggle("is-open", report.queries[q] === page.state.query);
      let c = 1;
      if (report.texts) say(cells[c++]!, shown(report.texts[q] ?? ""));
      for (const each of columns) say(cells[c++]!, shown(String(report.segments![each]![q] ?? "")));
      say(cells[c++]!, fixed(score(page.state.system, q)));
      if (!isPair) continue;
      say(cells[c++]!, fixed(score(page.state.other, q)));
      const d = difference(q);
      say(cells[c]!, signed(d));
      cells[c]!.dataset.sign = d > 0 ? "win" : d < 0 ? "loss" : "tie";
    }
    more.hidden = most >= chosen.length;
  }
  function emptyRow(): HTMLTableRowElement {
    const link = button("", () => open(Number(link.dataset.query)), { class: "link" });
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, link),
      report.texts && h("td", { class: "text" }),
      columns.map(() => h("td", { class: "segment" })),
      (isPair ? [1, 2, 3] : [1]).map(() => h("td", { class: "number" })),
    );
  }

  let valuesOf: string | null = null;
  function drawFilters(): void {
    const { state } = page;
    if (document.activeElement !== find) find.value = state.find;
    if (document.activeElement !== lost) lost.value = state.lost ? String(state.lost) : "";
    say(lostLabel, "Lost by more than");
    column.select.value = state.column;
    value.node.hidden = !state.column;
    if (valuesOf !== state.column) {
      const values = [...new Set((report.segments?.[state.column] ?? []).map((each) => String(each ?? "")))].sort();
      put(
        value.select,
        h("option", { value: "" }, "all"),
        values.filter(Boolean).map((each) => h("option", { value: each }, shown(each))),
      );
      valuesOf = state.column;
    }
    value.select.value = state.value;
    clear.hidden = !(state.find || state.lost || state.column);
  }

  /** A summary of the queries in the table; means are computed as in the leaderboard. */
  function outcome(who: string): string {
    const missing = chosen.length - sorted.length;
    const all = count(n, "query", "queries");
    if (!chosen.length) return `None of ${all} passes the filters.`;
    const what = isPair ? "both scores" : "a score";
    if (!sorted.length) return `None of ${count(missing, "query", "queries")} has ${what}.`;
    let [wins, ties, sum, weights] = [0, 0, 0, 0];
    for (const q of sorted) {
      const [d, weight] = [difference(q), report.weights?.[q] ?? 1];
      sum += weight * d;
      weights += weight;
      if (d > 0) wins++;
      else if (d === 0) ties++;
    }
    const mean = sum / weights;
    const found = isPair
      ? `${weighted(report)}mean difference ${signed(mean)}, win / tie / loss ${wins} / ${ties} / ${sorted.length - wins - ties}`
      : `${weighted(report)}mean ${fixed(mean)}`;
    const of = sorted.length === n ? all : `${sorted.length.toLocaleString("en")} of ${all}`;
    const without = missing ? ` (${missing.toLocaleString("en")} without ${what})` : "";
    return `${who}, ${liveName(page)} over ${of}${without}: ${found}.`;
  }

  function draw(): void {
    const { state } = page;
    drawFilters();
    chosen = chosenQueries(page) as typeof chosen;
    sorted = chosen.filter((q) => !Number.isNaN(difference(q)));
    sorted.sort((a, b) => difference(b) - difference(a) || a - b);
    head.draw();
    const [one, other] = [looks.name(state.system), looks.name(state.other)];
    say(buttons[1]!, looks.name(state.system, 24));
    if (isPair) say(buttons[2]!, looks.name(state.other, 24));
    say(words, outcome(isPair ? `${one} against ${other}` : one));
    found.hidden = copies.hidden = !chosen.length;
    if (found.hidden) return;
    if (pointed < 0) say(readout, HINT);
    const ends = (): number[][] => [
      [0, 1],
      [0, 1],
    ];
    if (isPair) scatter.draw(ends() as uPlot.AlignedData, `${one}|${other}`);
    bars.draw(ends() as uPlot.AlignedData);
    drawTable();
  }
  return { node, draw };
}
