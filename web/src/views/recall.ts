// Precision by recall, level by level: a chart for every grade from which on documents count as relevant.
import type uPlot from "uplot";
import { Chart } from "../chart.ts";
import { fixed, h, name, plain, put, shown, tableBox } from "../dom.ts";
import { type Page, section, system, type View } from "../page.ts";
import { isChosen, MOST_COLOURS } from "./curves.ts";

export function recall(page: Page): View | null {
  const { report, looks } = page;
  if (!report.recall?.length) return null;
  const isMany = report.systems.length > MOST_COLOURS;
  const charts = report.recall.map((of) => {
    const called = report.levelNames?.[report.levels.indexOf(of.level)];
    const title = `Grade ${plain(of.level)} and above${called ? `: ${shown(called)}` : ""}`;
    const chart = new Chart(page, {
      label: `Precision by recall, ${title}; the table below has the values`,
      aspect: 1.15,
      x: { label: () => "recall", range: () => [0, 1] },
      y: { label: () => "precision", range: () => [0, 1] },
      series: () =>
        report.systems.map((_, s): uPlot.Series => {
          const strong = isChosen(page, s);
          const grey = isMany && !strong;
          const stroke = grey ? looks.pale(looks.soft, 0.35) : looks.hue(s);
          return { stroke, width: strong ? 2.5 : grey ? 1 : 1.75, dash: grey ? [] : looks.dash(s, 1.75), points: { show: false } };
        }),
    });
    return { of, title, chart };
  });
  const table = h("table", { class: "dense" });
  const legend = h("div", { class: "legend flat" });
  const details = h("details", { ontoggle: () => drawTable() }, h("summary", {}, "Values by recall"), tableBox("Precision by recall", table));
  const about = h("p", {}, "A document counts as relevant from the grade on that a chart names. Precision is interpolated and averaged over the queries that have such documents.");
  const node = section("recall", "Precision by recall, level by level", about, legend, h("div", { class: "multiples" }, charts.map(({ title, chart }) => h("figure", {}, h("figcaption", {}, title), chart.node))), details);

  function drawTable(): void {
    if (!details.open) return;
    const { points } = report.recall![0]!;
    put(
      table,
      h("caption", {}, "Precision at levels of recall"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Grade"), h("th", { scope: "col" }, "System"), points.map((point) => h("th", { scope: "col", class: "number" }, plain(point))))),
      h("tbody", {}, charts.flatMap(({ of }) => report.systems.map((systemName, s) => h("tr", {}, h("th", { scope: "row" }, plain(of.level)), h("th", { scope: "row" }, name(systemName)), of.precision[s]!.map((value) => h("td", { class: "number" }, fixed(value))))))),
    );
  }
  function draw(): void {
    const pair = `${page.state.system} ${page.state.other}`;
    const named = isMany ? [...new Set([page.state.system, page.state.other])] : report.systems.map((_, s) => s);
    if (legend.dataset.of !== pair) put(legend, named.map((s) => system(page, s, 28)), isMany && "others in grey");
    legend.dataset.of = pair;
    for (const { of, chart } of charts) chart.draw([of.points, ...of.precision] as uPlot.AlignedData, pair);
    drawTable();
  }
  return { node, draw };
}
