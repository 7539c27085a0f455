// Gain by rank: all systems, the ideal, bands of the compared systems; and the documents needed for a given gain.
import type uPlot from "uplot";
import { Chart, rule } from "../chart.ts";
import { count, fill, fixed, h, listed, numeric, plain, put, say, shown, tableBox } from "../dom.ts";
import { isNormalised } from "../measures.ts";
import { nameOf, type Page, section, swatch, type View, weighted } from "../page.ts";
import { systemOrder } from "./leaderboard.ts";

/** With more systems than hues, only the compared systems have colours. */
export const MOST_COLOURS = 8;
const TABLE_RANKS = [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000];
const NAMED = 6;

export const isChosen = (page: Page, s: number): boolean => s === page.state.system || s === page.state.other;

/** The style of a system's line: compared systems are stronger; of many, the others are grey. */
export function lineOf(page: Page, s: number): uPlot.Series {
  const { looks, report } = page;
  const isStrong = isChosen(page, s);
  if (report.systems.length > MOST_COLOURS && !isStrong)
    return { stroke: looks.pale(looks.soft, 0.35), width: 1, points: { show: false } };
  return { stroke: looks.hue(s), width: isStrong ? 2.5 : 1.75, dash: looks.dash(s, 1.75), points: { show: false } };
}

/** A system's values by rank, to the end of its longest list. */
const untilEnd = ({ live, report: { depth } }: Page, values: Float64Array, s: number): Float64Array =>
  values.subarray(s * depth, s * depth + live.longest[s]!);

export function curves(page: Page): View {
  const { report, live, looks } = page;
  const { depth } = report;
  const count_ = report.systems.length;
  const ranks = Float64Array.from({ length: depth }, (_, r) => r + 1);
  const ones = new Float64Array(depth).fill(1);
  const isMany = count_ > MOST_COLOURS;
  const hidden = new Set<number>();
  let pointed: number | null = null;

  const reach = (): number => (page.state.zoom ? Math.max(2, page.state.depth) : depth);
  function highest(): number {
    const last = reach() - 1;
    if (!isNormalised(page.state)) return (live.ideal[last] || 1) * 1.02;
    let top = 1;
    for (let s = 0; s < count_; s++)
      for (let r = 0; r <= last; r++) top = Math.max(top, live.curves[s * depth + r]! || 0);
    return top;
  }

  /** The ideal value at each rank: 1 for a normalised measure, unless nothing can be gained. */
  const idealLine = (): Float64Array => (isNormalised(page.state) && live.ideal[depth - 1]! > 0 ? ones : live.ideal);

  const chart = new Chart(page, {
    label: "Average gain by rank of each system; the table below has the values",
    x: { label: () => "rank", isWhole: true, range: () => [1, Math.max(2, reach())] },
    y: { label: () => "", range: () => [0, highest()] },
    series: () => [
      { stroke: looks.ink, width: 2, points: { show: false } },
      ...report.systems.map((_, s) => ({
        ...lineOf(page, s),
        points: { show: live.longest[s]! < 2, size: 7 }, // a single point is not a line
        show: !hidden.has(s),
      })),
      ...chosen().flatMap((s): uPlot.Series[] =>
        [1, 2].map(() => ({ width: 0, points: { show: false }, show: !hidden.has(s) })),
      ),
    ],
    bands: () =>
      chosen().map((s, i) => ({
        series: [count_ + 3 + 2 * i, count_ + 2 + 2 * i],
        fill: looks.pale(looks.hue(s), 0.13),
      })),
    paint: (plot) => {
      const { depth: k } = page.state;
      if (k <= reach()) rule(plot, looks.soft, [k, 0], [k, highest()], [3, 3]);
    },
    point: (at) => {
      const rank = at && Math.min(depth, Math.max(1, Math.round(at.x)));
      if (rank !== pointed) {
        pointed = rank;
        drawLegend();
      }
    },
    click: ({ x }) => page.set({ depth: Math.min(depth, Math.max(1, Math.round(x))) }),
  });

  const chosen = (): number[] => [...new Set([page.state.system, page.state.other])].filter((s) => s < count_);

  // The legend: names with the value at the rank under the pointer, or at the depth.
  const legendRank = h("span", { class: "label" });
  const idealValue = h("span", { class: "number" });
  const entries = report.systems.map((systemName, s) => {
    const value = h("span", { class: "number" });
    const node = h(
      "button",
      {
        type: "button",
        class: "entry",
        "aria-pressed": "true",
        title: `Show or hide ${shown(systemName)}`,
        onclick: () => {
          if (!hidden.delete(s)) hidden.add(s);
          node.setAttribute("aria-pressed", String(!hidden.has(s)));
          drawChart();
        },
      },
      swatch(page, s),
      nameOf(page, s, 28),
      value,
    );
    return { node, value };
  });
  const list = h("div", { class: "entries" });
  const legend = h(
    "div",
    { class: "legend" },
    legendRank,
    h("div", { class: "entry ideal" }, h("span", { class: "swatch line" }), h("bdi", {}, "ideal"), idealValue),
    list,
  );
  let listedBefore = "";

  function drawLegend(): void {
    const rank = pointed ?? page.state.depth;
    say(legendRank, `${page.state.measure} at rank ${rank}`);
    say(idealValue, fixed(idealLine()[rank - 1]));
    // Of many systems, show the compared ones and the best.
    const shownSystems = isMany
      ? [...new Set([...chosen(), ...systemOrder(page)])].slice(0, 12)
      : report.systems.map((_, s) => s);
    if (shownSystems.join() !== listedBefore)
      put(
        list,
        shownSystems.map((s) => entries[s]!.node),
      );
    listedBefore = shownSystems.join();
    for (const s of shownSystems) entries[s]!.node.classList.toggle("muted", isMany && !isChosen(page, s));
    for (const s of shownSystems) {
      const value = untilEnd(page, live.curves, s)[rank - 1];
      say(entries[s]!.value, value === undefined ? `ends at ${live.longest[s]}` : fixed(value));
    }
  }

  const zoom = h(
    "label",
    { class: "check" },
    h("input", {
      type: "checkbox",
      onchange: (event: Event) => page.set({ zoom: (event.target as HTMLInputElement).checked }),
    }),
    "only to depth k",
  );
  const title = h("h3", {});
  const note = h("span", {});
  const words = h("div", { class: "words", "aria-live": "polite" });
  const table = h("table", { class: "dense" });
  const details = h(
    "details",
    { ontoggle: () => drawTable() },
    h("summary", {}, "Values by rank"),
    tableBox("Values by rank", table),
  );
  const node = section(
    "curves",
    "Gain by rank",
    h("div", { class: "bar" }, title, zoom),
    h("div", { class: "with-legend" }, chart.node, legend),
    h("p", { class: "note" }, note, h("span", { class: "how" }, "Click the chart to set the depth.")),
    h("h3", {}, "Documents needed for the same gain"),
    words,
    details,
  );

  function drawChart(): void {
    const data = [
      ranks,
      idealLine(),
      ...report.systems.map((_, s) => untilEnd(page, live.curves, s)),
      ...chosen().flatMap((s) => [untilEnd(page, live.low, s), untilEnd(page, live.high, s)]),
    ];
    chart.draw(data as unknown as uPlot.AlignedData, `${chosen()}|${[...hidden]}`);
  }

  function drawTable(): void {
    if (!details.open) return;
    const at = [...new Set([...TABLE_RANKS.filter((rank) => rank < depth), depth])];
    const cells = (values: Float64Array): string[] => at.map((rank) => fixed(values[rank - 1]));
    fill(
      table,
      `${page.state.measure} by rank`,
      ["System", ...at.map((rank) => numeric(String(rank)))],
      [
        ["ideal", ...cells(idealLine())],
        ...report.systems.map((_, s) => [nameOf(page, s), ...cells(untilEnd(page, live.curves, s))]),
      ],
    );
  }

  function draw(): void {
    const { state } = page;
    live.cumulate();
    const how = isNormalised(state) ? (state.average === "means" ? "ratio of means" : "mean of ratios") : "mean";
    say(title, `${state.measure} by rank, ${weighted(report)}${how} over ${page.over()}`);
    (zoom.firstChild as HTMLInputElement).checked = state.zoom;
    const bands = report.queries.length > 1 ? "Bands: pointwise 95% intervals (t) of the compared systems. " : "";
    const ends = Math.min(...live.longest) < depth ? "Curves end with the system's longest list. " : "";
    say(note, bands + ends);
    drawChart();
    drawLegend();
    const sentences = sideways(page);
    if (words.children.length !== sentences.length)
      put(
        words,
        sentences.map(() => h("p")),
      );
    sentences.forEach((sentence, i) => say(words.children[i]!, sentence));
    drawTable();
  }
  return { node, draw };
}

/** The documents needed with each system for the gain of the ideal list at a few ranks. */
export function sideways(page: Page): string[] {
  const { report, live, state } = page;
  const few = [5, 10, 20].filter((rank) => rank <= state.depth && rank < report.depth);
  const at = few.length ? few : [1];
  const what = state.measure.replace(/^n/, "");
  const found = at.flatMap((rank) => {
    const gain = live.ideal[rank - 1]!;
    return gain > 0 ? [reading(page, rank, gain)] : [];
  });
  if (!found.length) return ["No judged document has a gain above 0."];
  const has = at.map((rank) => `${plain(Number(live.ideal[rank - 1]!.toFixed(3)))} at rank ${rank}`);
  return [...found, `Based on the mean ${what}, which is ${listed(has)} for the ideal.`];
}

function reading(page: Page, rank: number, gain: number): string {
  const { report, live } = page;
  const reached = report.systems.map((_, s) => ({ s, name: page.looks.name(s), rank: live.rankToGain(s, gain) }));
  const there = reached.filter((each) => each.rank).sort((a, b) => a.rank - b.rank);
  const missed = reached.filter((each) => !each.rank);
  const never = missed.map((each) => each.name);
  const goal = `To reach the gain of the ideal list at rank ${rank}, `;
  const most = Math.max(...missed.map(({ s }) => live.longest[s]!));
  const notEnough = `${count(most, "document")} ${most === 1 ? "is" : "are"} not enough`;
  const without = never.length > NAMED ? `${never.length} systems` : listed(never, "or");
  if (!there.length) return `${goal}${notEnough} with ${never.length > NAMED ? "any system" : without}.`;
  const [first, last] = [there[0]!, there.at(-1)!];
  const ends = `${first.rank} documents with ${first.name} and ${last.rank} with ${last.name}`;
  const read =
    there.length > NAMED
      ? `a user reads between ${ends} (${there.length} systems)`
      : `a user reads ${listed(there.map((each, i) => `${i ? each.rank : count(each.rank, "document")} with ${each.name}`))}`;
  return `${goal}${read}${never.length ? `; with ${without}, ${notEnough}` : ""}.`;
}
