// Systems that return nothing where their top score is low: false answers and gain kept, by share of answered queries.
import uPlot from "uplot";
import { Chart } from "../chart.ts";
import { fill, fixed, h, numeric, put, share, tableBox } from "../dom.ts";
import { nameOf, type Page, section, system, type View } from "../page.ts";
import { isChosen, lineOf, MOST_COLOURS } from "./curves.ts";

/** The fields of a row: a threshold, and values that are followed by both ends of their intervals. */
const [THRESHOLD, ANSWERED, FALSE, RISK, KEPT] = [0, 1, 4, 7, 10] as const;

export function abstention(page: Page): View | null {
  const { report, looks } = page;
  const of = report.abstention;
  if (!of) return null;
  const isMany = report.systems.length > MOST_COLOURS;
  const banded = (): number[] => report.systems.map((_, s) => s).filter((s) => isChosen(page, s));
  const count = report.systems.length;
  const highest = (at: number): number =>
    at === KEPT ? 1 : Math.max(0.1, ...of.rows.flat().flatMap((row) => [row[at] ?? 0, row[at + 2] ?? 0])) * 1.05;
  const charts = ([["False answers", "share of answers", RISK], [`${of.measure} kept`, of.measure, KEPT]] as const).map(
    ([title, label, at]) => {
      const chart = new Chart(page, {
        label: `${title} by share of answered queries; the table below has the values`,
        aspect: 1.15,
        x: { label: () => "answered queries", range: () => [0, 1] },
        y: { label: () => label, range: () => [0, highest(at)] },
        series: () => [
          ...report.systems.map((_, s) => ({ ...lineOf(page, s), spanGaps: true })),
          ...banded().flatMap(() => [1, 2].map(() => ({ width: 0, points: { show: false }, spanGaps: true }))),
        ],
        bands: () =>
          banded().map((s, i) => ({
            series: [count + 2 + 2 * i, count + 1 + 2 * i],
            fill: looks.pale(looks.hue(s), 0.13),
          })),
      });
      const line = (s: number, field: number): uPlot.AlignedData => {
        const rows = of.rows[s]!.filter((row) => row[ANSWERED] && row[field] !== null).reverse();
        return [rows.map((row) => row[ANSWERED]!), rows.map((row) => row[field]!)];
      };
      const draw = (key: string): void =>
        chart.draw(
          uPlot.join([
            ...report.systems.map((_, s) => line(s, at)),
            ...banded().flatMap((s) => [line(s, at + 1), line(s, at + 2)]),
          ]),
          key,
        );
      return { draw, node: h("figure", {}, h("figcaption", {}, title), chart.node) };
    },
  );
  const level = `${100 * of.level}%`;
  const guarantees = h("table");
  fill(
    guarantees,
    `Thresholds with at most ${level} false answers`,
    ["System", ...["AURC", "95% interval", "threshold", "answered", "false", `${of.measure} kept`].map(numeric)],
    report.systems.map((_, s) => {
      const [area, low, high] = of.area[s]!;
      const row = of.lowest[s];
      const threshold = !row ? "not possible" : row[THRESHOLD] === null ? "none needed" : String(row[THRESHOLD]);
      const values = [threshold, share(row?.[ANSWERED]), share(row?.[FALSE]), fixed(row?.[KEPT])];
      return [system(page, s, 34), fixed(area), low == null ? "–" : `${fixed(low)} to ${fixed(high)}`, ...values];
    }),
  );
  const table = h("table", { class: "dense" });
  const legend = h("div", { class: "legend flat" });
  const details = h(
    "details",
    { ontoggle: () => drawTable() },
    h("summary", {}, "Values by threshold"),
    tableBox("Values by threshold", table),
  );
  const node = section(
    "abstention",
    "Abstention",
    h(
      "p",
      {},
      "What if systems returned nothing where their top score is at most a threshold? ",
      "Answers are false if they score 0 or nothing is relevant.",
    ),
    legend,
    h("div", { class: "multiples" }, charts.map((each) => each.node)),
    tableBox("Thresholds", guarantees),
    h(
      "p",
      { class: "note" },
      `With these thresholds, a further query of the same kind is answered falsely with a probability of at most ${level}. `,
      "AURC: mean share of false answers over thresholds. Without an answer, a query scores 1 if nothing is relevant, else 0.",
    ),
    details,
  );

  function drawTable(): void {
    if (!details.open || table.rows.length) return;
    const rows = report.systems.flatMap((_, s) =>
      of!.rows[s]!.map((row) => [
        nameOf(page, s),
        row[THRESHOLD] === null ? "none" : String(row[THRESHOLD]),
        share(row[ANSWERED]),
        share(row[FALSE]),
        share(row[RISK]),
        fixed(row[KEPT]),
      ]),
    );
    const heads = ["threshold", "answered", "false", "false of answers", `${of!.measure} kept`];
    fill(table, "Values by threshold", ["System", ...heads.map(numeric)], rows);
  }
  function draw(): void {
    const pair = `${page.state.system} ${page.state.other}`;
    const named = isMany ? banded() : report.systems.map((_, s) => s);
    put(
      legend,
      named.map((s) => system(page, s, 28)),
      isMany && "others in grey",
    );
    for (const each of charts) each.draw(pair);
    drawTable();
  }
  return { node, draw };
}
