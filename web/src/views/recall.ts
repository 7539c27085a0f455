// Precision–recall curves: one chart per lowest relevant grade.
import type uPlot from "uplot";
import { Chart } from "../chart.ts";
import { fill, fixed, h, numeric, plain, put, tableBox } from "../dom.ts";
import { nameOf, type Page, section, system, type View } from "../page.ts";
import { lineOf, MOST_COLOURS } from "./curves.ts";

export function recall(page: Page): View | null {
  const { report } = page;
  if (!report.recall?.length) return null;
  const isMany = report.systems.length > MOST_COLOURS;
  const charts = report.recall.map((of) => {
    const title = `Grade ${plain(of.level)} and above`;
    const chart = new Chart(page, {
      label: `Precision–recall curves, ${title}; the table below has the values`,
      aspect: 1.15,
      x: { label: () => "recall", range: () => [0, 1] },
      y: { label: () => "precision", range: () => [0, 1] },
      series: () => report.systems.map((_, s) => lineOf(page, s)),
    });
    return { of, title, chart };
  });
  const table = h("table", { class: "dense" });
  const legend = h("div", { class: "legend flat" });
  const details = h(
    "details",
    { ontoggle: () => drawTable() },
    h("summary", {}, "Values by recall"),
    tableBox("Precision at recall levels", table),
  );
  const about = h(
    "p",
    {},
    "Each chart states its lowest relevant grade. ",
    "Precision is interpolated and averaged over queries with relevant documents.",
  );
  const node = section(
    "recall",
    "Precision–recall curves",
    about,
    legend,
    h(
      "div",
      { class: "multiples" },
      charts.map(({ title, chart }) => h("figure", {}, h("figcaption", {}, title), chart.node)),
    ),
    details,
  );

  function drawTable(): void {
    if (!details.open) return;
    const { points } = report.recall![0]!;
    const rows = charts.flatMap(({ of }) =>
      report.systems.map((_, s) => [plain(of.level), nameOf(page, s), ...of.precision[s]!.map((value) => fixed(value))]),
    );
    fill(
      table,
      "Precision at recall levels",
      ["Grade", "System", ...points.map((point) => numeric(plain(point)))],
      rows,
    );
  }
  function draw(): void {
    const pair = `${page.state.system} ${page.state.other}`;
    const named = isMany ? [...new Set([page.state.system, page.state.other])] : report.systems.map((_, s) => s);
    if (legend.dataset.of !== pair)
      put(
        legend,
        named.map((s) => system(page, s, 28)),
        isMany && "others in grey",
      );
    legend.dataset.of = pair;
    for (const { of, chart } of charts) chart.draw([of.points, ...of.precision] as uPlot.AlignedData, pair);
    drawTable();
  }
  return { node, draw };
}
