// All systems: means with intervals, letters or rank ranges, judged shares; and the choice of two to compare.
import {
  button,
  byValue,
  download,
  fixed,
  h,
  type Heading,
  put,
  say,
  share,
  shown,
  sortableHead,
  svg,
  tableBox,
} from "../dom.ts";
import type { Measure } from "../decode.ts";
import { isNormalised } from "../measures.ts";
import { type BasePage, evaluated, hasPair, liveName, section, system, type View, weighted } from "../page.ts";
import { initial, judgedAt } from "../state.ts";

/** Most systems shown before the reader asks for all. */
const MOST_ROWS = 25;
const FIRST_ROWS = 20;

interface Row {
  node: HTMLTableRowElement;
  /** The cells of the controls and of each measure, and the cell of the interval, which follows one of them. */
  live: HTMLTableCellElement;
  values: HTMLTableCellElement[];
  whisker: HTMLTableCellElement;
  band: SVGElement;
  line: SVGElement;
  dot: SVGElement;
  ends: HTMLElement;
  place: HTMLTableCellElement;
  chosen: [HTMLInputElement, HTMLInputElement];
}

/** The systems in the order of a column of the leaderboard; systems without a value are last. */
export function systemOrder(page: BasePage): number[] {
  const { sort, rising } = page.state;
  const order = page.report.systems.map((_, s) => s);
  if (sort !== "name") return order.sort(byValue((s) => sortValue(page, sort, s), rising));
  order.sort((a, b) => (page.report.systems[a]! < page.report.systems[b]! ? -1 : 1));
  return rising ? order.reverse() : order;
}

function sortValue(page: BasePage, key: string, s: number): number | null {
  const { report, averages } = page;
  if (key === "live") return averages.means[s]!;
  if (key.startsWith("judged@"))
    return report.judged!.share[report.judged!.k.indexOf(Number(key.slice(7)))]?.[s] ?? null;
  return report.measures.find((measure) => measure.name === key)?.means[s] ?? null;
}

/** The column with bold values and intervals: the sorted one, or else the initially sorted one. */
function leading(page: BasePage): string {
  const { report, state } = page;
  if (state.sort === evaluated(page)?.name) return "live"; // one column has both
  const isMeasure = report.measures.some(({ name }) => name === state.sort);
  return isMeasure || state.sort === "live" ? state.sort : initial(report).sort;
}

export function leaderboard(page: BasePage): View {
  const { report } = page;
  const judged = judgedAt(report);
  const hasOther = hasPair(page) && !report.sessions;
  const hasLetters = report.measures.some((measure) => measure.marks);
  const hasGroup = report.measures.some((measure) => measure.marks || measure.ranks);
  const before = [
    { text: "Place", isHidden: true },
    ...(hasOther
      ? [
          { text: "Compare", className: "choose" },
          { text: "with", className: "choose" },
        ]
      : []),
    { text: "System", key: "name", className: "named" },
  ];
  // The column of the controls is placed at the measure with which they start.
  const liveAt = report.live ?? report.measures.length;
  const ofMeasures: Heading[] = report.measures.map(({ name }) => ({ text: name, key: name, isNumber: true }));
  ofMeasures.splice(liveAt, 0, { text: "", key: "live", isNumber: true, title: "The measure of the controls" });
  const columns: Heading[] = [
    ...before,
    ...ofMeasures,
    { text: "95% interval", className: "whisker" },
    ...(hasGroup ? [{ text: hasLetters ? "Group" : "Rank range" }] : []),
    ...(judged ? [{ text: `Judged@${judged}`, key: `judged@${judged}`, isNumber: true }] : []),
  ];
  const head = sortableHead(
    columns,
    () => ({
      key: page.state.sort === evaluated(page)?.name ? "live" : page.state.sort,
      falling: page.state.sort === "name" ? page.state.rising : !page.state.rising,
    }),
    (key, falling) => page.set({ sort: key, rising: key === "name" ? falling : !falling }),
  );
  const heads = [...head.row.cells].slice(before.length);
  const [headLive] = heads.splice(liveAt, 1) as [HTMLTableCellElement];
  const headRow = { node: head.row, live: headLive, values: heads, whisker: heads[report.measures.length]! };
  const liveHead = headLive.querySelector("button")!;
  const body = h("tbody");

  const rows = report.systems.map((systemName, s): Row => {
    const band = svg("rect", { y: 2, height: 14, rx: 3, fill: `var(--hue-${s})`, opacity: 0.18 });
    const line = svg("line", { y1: 9, y2: 9, stroke: `var(--hue-${s})`, "stroke-width": 2 });
    const dot = svg("circle", { cy: 9, r: 4, fill: `var(--hue-${s})` });
    const pick = (which: "system" | "other"): HTMLInputElement =>
      h("input", {
        type: "radio",
        name: `choose-${which}`,
        "aria-label": `${which === "system" ? "Compare" : "with"} ${shown(systemName)}`,
        onchange: () => choose(which, s),
      });
    const chosen: [HTMLInputElement, HTMLInputElement] = [pick("system"), pick("other")];
    const ends = h("span", { class: "ends" });
    const place = h("td", { class: "place number" });
    const live = h("td", { class: "number live" });
    const values = report.measures.map((measure) => h("td", { class: "number" }, fixed(measure.means[s])));
    const picture = svg("svg", { height: 18, "aria-hidden": "true" }, band, line, dot);
    const whisker = h("td", { class: "whisker" }, picture, ends);
    const isBaseline = report.baseline === s;
    const node = h(
      "tr",
      {
        onclick: (event: Event) =>
          hasOther && !(event.target as Element).closest("button,input,a") && choose("system", s),
      },
      place,
      hasOther && chosen.map((input) => h("td", { class: "choose" }, input)),
      h("th", { scope: "row" }, system(page, s, 34), isBaseline && h("span", { class: "tag" }, "baseline")),
      [...values.slice(0, liveAt), live, ...values.slice(liveAt)],
      whisker,
      hasGroup && h("td", { class: "group" }),
      judged !== undefined &&
        h("td", { class: "number" }, share(report.judged!.share[report.judged!.k.indexOf(judged)]?.[s])),
    );
    return { node, live, values, whisker, band, line, dot, ends, place, chosen };
  });

  /** A system chosen for one role loses the other role. */
  function choose(which: "system" | "other", s: number): void {
    const { system: one, other } = page.state;
    if (which === "system") page.set(s === other ? { system: s, other: one } : { system: s });
    else page.set(s === one ? { other: s, system: other } : { other: s });
  }

  const caption = h("caption", { class: "hidden" }, "Leaderboard");
  const table = h("table", { class: "leaderboard" }, caption, h("thead", {}, head.row), body);
  const about = h("p", { class: "note" });
  const all = button(
    `Show all ${report.systems.length} systems`,
    () => {
      isOpen = true;
      draw();
    },
    { class: "more" },
  );
  const save = download("Download as CSV", "leaderboard.csv", saved);
  const below = h("div", { class: "buttons" }, all, save);
  const node = section("leaderboard", "Leaderboard", tableBox("Leaderboard", table), below, about);
  let drawn = "";
  let placed = "";
  let isOpen = false;

  function draw(): void {
    const { state, averages } = page;
    const order = systemOrder(page);
    head.draw();
    const now = evaluated(page);
    say(liveHead, liveName(page));
    const key = leading(page);
    const led = key === "live" ? now : report.measures.find(({ name }) => name === key)!;
    const tested = led?.low ? led : null;
    const ends = report.systems.map((_, s) => interval(key === "live" ? tested : led, s));
    const bounds = led?.bounds;
    const finite = [...ends.flat(), ...(bounds?.lowest ?? []), ...(bounds?.highest ?? [])].filter((value) =>
      Number.isFinite(value),
    ) as number[];
    const hasEnds = ends.some(([low]) => Number.isFinite(low));
    arrange(key, now !== null, hasEnds);
    const few =
      isOpen || order.length <= MOST_ROWS
        ? order
        : order.filter((s, i) => i < FIRST_ROWS || s === state.system || s === state.other);
    all.hidden = few.length === order.length;
    if (few.join() !== drawn)
      put(
        body,
        few.map((s) => rows[s]!.node),
      );
    drawn = few.join();
    const marked = groupedBy(led, now);
    const low = Math.min(...finite);
    const high = Math.max(...finite);
    const margin = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
    const x = (value: number): string => `${(4 + ((value - low + margin) / (high - low + 2 * margin)) * 92).toFixed(2)}%`;
    for (const [i, s] of order.entries()) {
      if (!few.includes(s)) continue;
      const row = rows[s]!;
      say(row.place, String(i + 1));
      say(row.live, fixed(averages.means[s]));
      const [left, mean, right] = ends[s]!;
      const there = Number.isFinite(mean!);
      row.dot.setAttribute("visibility", there ? "visible" : "hidden");
      if (there) row.dot.setAttribute("cx", x(mean!));
      const wide = Number.isFinite(left!) && Number.isFinite(right!);
      row.line.setAttribute("visibility", wide ? "visible" : "hidden");
      if (wide) {
        row.line.setAttribute("x1", x(left!));
        row.line.setAttribute("x2", x(right!));
      }
      const [least, most] = [bounds?.lowest[s], bounds?.highest[s]];
      const moves = least != null && most != null;
      row.band.setAttribute("visibility", moves ? "visible" : "hidden");
      if (moves) {
        row.band.setAttribute("x", x(least));
        row.band.setAttribute("width", `${parseFloat(x(most)) - parseFloat(x(least))}%`);
      }
      row.whisker.title = moves
        ? `Unjudged documents could move ${led!.name} to ${fixed(least)}–${fixed(most)}.`
        : "";
      say(row.ends, wide ? `${fixed(left)} to ${fixed(right)}` : "");
      const cell = row.node.querySelector(".group");
      if (cell) say(cell, group(marked, s));
      row.chosen[0].checked = s === state.system;
      row.chosen[1].checked = s === state.other;
      row.node.classList.toggle("is-system", hasOther && s === state.system);
      row.node.classList.toggle("is-other", hasOther && s === state.other);
    }
    const kind = tested
      ? "simultaneous 95%: systems whose intervals do not overlap differ significantly"
      : "95% for each mean (t)";
    const range = hasLetters
      ? `Group: by ${marked?.name}; systems sharing a letter do not differ significantly.`
      : `Rank range: by ${marked?.name}; ranks consistent with all significant differences (95%).`;
    const mean = isNormalised(state) && state.average === "means" ? " (ratio of means)" : "";
    const sentences = [
      `${liveName(page)}${mean} follows the controls; ${weighted(report)}means over ${page.over()}.`,
      hasEnds ? `Intervals: ${tested?.name ?? liveName(page)}, ${kind}.` : "",
      bounds ? `Bands: range of ${led!.name} if the unjudged documents had any grades.` : "",
      hasGroup && marked ? range : "",
    ];
    say(about, sentences.filter(Boolean).join(" "));
  }

  /** Moves the interval next to the column with bold values. */
  function arrange(key: string, isEvaluated: boolean, hasEnds: boolean): void {
    const now = `${key}|${isEvaluated}|${hasEnds}`;
    if (now === placed) return;
    placed = now;
    const at = report.measures.findIndex(({ name }) => name === key);
    for (const row of [headRow, ...rows]) {
      // While the controls match a measure, one column shows it.
      if (report.live !== null) row.values[report.live]!.hidden = isEvaluated;
      row.node.querySelector(".leading")?.classList.remove("leading");
      const cell = row.values[at] ?? row.live;
      cell.classList.add("leading");
      cell.after(row.whisker);
      row.whisker.hidden = !hasEnds;
    }
  }

  /** The measure to which letters or rank ranges refer. */
  const groupedBy = (...measures: (Measure | null)[]): Measure | undefined =>
    [...measures, report.measures[report.first]!].find((measure) => measure?.marks ?? measure?.ranks) ?? undefined;
  function group(by: Measure | undefined, s: number): string {
    const places = by?.ranks?.[s];
    return by?.marks?.[s] ?? (places ? [...new Set(places)].join("–") : "–");
  }

  /** The table of all systems as a file. */
  function saved(): (string | number | null | undefined)[][] {
    const now = evaluated(page);
    const key = leading(page);
    const led = key === "live" ? now : report.measures.find(({ name }) => name === key)!;
    const by = groupedBy(led, now);
    const of = key === "live" ? liveName(page) : key;
    const share = judged === undefined ? undefined : report.judged!.share[report.judged!.k.indexOf(judged)];
    const live = now ? [] : [liveName(page)];
    return [
      [
        "place",
        "system",
        ...report.measures.map(({ name }) => name),
        ...live,
        `${of} low`,
        `${of} high`,
        ...(led?.bounds ? [`${of} lowest`, `${of} highest`] : []),
        ...(hasGroup ? [`${hasLetters ? "Group" : "Rank range"} by ${by?.name}`] : []),
        ...(share ? [`Judged@${judged}`] : []),
      ],
      ...systemOrder(page).map((s, i) => {
        const [low, , high] = interval(key === "live" && !led?.low ? null : led, s);
        return [
          i + 1,
          report.systems[s],
          ...report.measures.map(({ means }) => means[s]),
          ...live.map(() => page.averages.means[s]),
          low,
          high,
          ...(led?.bounds ? [led.bounds.lowest[s], led.bounds.highest[s]] : []),
          ...(hasGroup ? [group(by, s)] : []),
          ...(share ? [share[s]] : []),
        ];
      }),
    ];
  }

  /** The lower limit, the mean and the upper limit of a tested measure, or of the controls. */
  function interval(measure: Measure | null, s: number): number[] {
    if (measure) return [measure.low?.[s] ?? NaN, measure.means[s] ?? NaN, measure.high?.[s] ?? NaN];
    const { meanLow, means, meanHigh } = page.averages;
    return [meanLow[s]!, means[s]!, meanHigh[s]!];
  }

  return { node, draw };
}
