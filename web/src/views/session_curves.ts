// Sessions: gain after each query, by system; and the score of each session.
import type uPlot from "uplot";
import { Chart } from "../chart.ts";
import { button, byValue, download, fill, fixed, h, name, numeric, put, say, sortableHead, tableBox } from "../dom.ts";
import { isNormalised } from "../measures.ts";
import { type BasePage, liveName, nameOf, section, system, type View } from "../page.ts";
import type { SessionLive } from "../session_measures.ts";

const FIRST = 15;

export function sessionCurves(page: BasePage, live: SessionLive): View {
  const { report, looks } = page;
  const most = report.queriesMost!;
  const positions = Float64Array.from({ length: most }, (_, p) => p + 1);
  const chart = new Chart(page, {
    label: "Average gain after each query of a session; the table below has the values",
    x: { label: () => "queries", isWhole: true, range: () => [1, Math.max(2, most)] },
    y: {
      label: () => page.state.measure,
      range: () => [
        0,
        isNormalised(page.state) ? 1 : Math.max(1e-9, ...live.curves.flatMap((curve) => [...curve])) * 1.05,
      ],
    },
    series: () =>
      report.systems.map((_, s) => ({
        stroke: looks.hue(s),
        width: 2,
        dash: looks.dash(s, 1.75),
        points: { show: most < 3, size: 7 },
      })),
  });
  const legend = h(
    "div",
    { class: "legend flat" },
    report.systems.map((_, s) => system(page, s, 30)),
  );
  const title = h("h3", {});
  const table = h("table", { class: "dense" });
  const node = section(
    "curves",
    "Gain by position in the session",
    title,
    legend,
    chart.node,
    h("p", { class: "note" }, "After the last query of a session, its gain stays constant."),
    tableBox("Values by position", table),
  );

  function draw(): void {
    const { state } = page;
    say(title, `${liveName(page)} after each query, mean over ${page.over()}`);
    chart.draw([positions, ...live.curves] as unknown as uPlot.AlignedData, state.measure);
    const at = [...positions].filter((p) => p <= 10 || p === most);
    fill(
      table,
      `${state.measure} by number of queries`,
      ["System", ...at.map((p) => numeric(String(p)))],
      report.systems.map((_, s) => [nameOf(page, s), ...at.map((p) => fixed(live.curves[s]![p - 1]))]),
    );
  }
  return { node, draw };
}

/** One row per session of any system, with its scores. */
export function sessionTable(page: BasePage, live: SessionLive): View {
  const { report } = page;
  const ids = [...new Set(report.sessions!.flat())];
  const places = report.sessions!.map((of) => new Map(of.map((id, i) => [id, i])));
  const score = (s: number, id: string): number => live.scores[s]![places[s]!.get(id) ?? -1] ?? NaN;
  const length = (id: string): number => {
    const s = places.findIndex((of) => of.has(id));
    const i = places[s]!.get(id)!;
    return live.of[s]!.turnAt[i + 1]! - live.of[s]!.turnAt[i]!;
  };
  let rows = FIRST;
  const head = sortableHead(
    [
      { text: "Session", key: "query" },
      { text: "Queries", key: "length", isNumber: true },
      ...report.systems.map((_, s) => ({ text: page.looks.name(s, 24), key: `system${s}`, isNumber: true })),
    ],
    () => ({ key: page.state.order, falling: !page.state.up }),
    (key, falling) => page.set({ order: key, up: !falling }),
  );
  const body = h("tbody");
  const more = button(
    "Show more",
    () => {
      rows += 50;
      draw();
    },
    { class: "more" },
  );
  const node = section(
    "sessions",
    "Per-session scores",
    tableBox(
      "Per-session scores",
      h("table", {}, h("caption", { class: "hidden" }, "Per-session scores"), h("thead", {}, head.row), body),
    ),
    h(
      "div",
      { class: "buttons" },
      more,
      download("Download as CSV", "sessions.csv", () => [
        ["session", "queries", ...report.systems],
        ...ids.map((id) => [id, length(id), ...report.systems.map((_, s) => score(s, id))]),
      ]),
    ),
  );

  function draw(): void {
    const { order, up } = page.state;
    const key =
      order === "length"
        ? length
        : order.startsWith("system")
          ? (id: string) => score(Number(order.slice(6)), id)
          : null;
    const sorted = ids.map((_, i) => i);
    if (key) sorted.sort(byValue((i) => key(ids[i]!), up));
    else if (!up) sorted.reverse();
    head.draw();
    put(
      body,
      sorted.slice(0, rows).map((i) => {
        const id = ids[i]!;
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, name(id)),
          h("td", { class: "number" }, String(length(id))),
          report.systems.map((_, s) => h("td", { class: "number" }, fixed(score(s, id)))),
        );
      }),
    );
    more.hidden = rows >= ids.length;
  }
  return { node, draw };
}
