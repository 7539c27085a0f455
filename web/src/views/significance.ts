// All pairs of systems: differences with adjusted p-values.
import { byValue, choices, fixed, h, probability, put, say, shown, signed, tableBox } from "../dom.ts";
import { nameOf, type Page, section, system, type View } from "../page.ts";

const MOST = 25;
/** Most systems that fit on a sheet of paper with p-values. */
const WIDE = 8;
const MARKS = "✓ and colour: significantly different at the 5% level; without: no difference was shown.";

export function significance(page: Page): View | null {
  const { report } = page;
  const tested = report.pairs?.filter((pairs) => pairs.p.length) ?? [];
  if (!tested.length) return null;
  let which = 0;
  const measure = choices(
    "Measure",
    tested.map((pairs, i): [string, string] => [String(i), report.measures[pairs.measure]!.name]),
    (value) => {
      which = Number(value);
      draw();
    },
  );
  const table = h("table", { class: "matrix" });
  const note = h("p", { class: "note" });
  const node = section(
    "significance",
    "Significance",
    h(
      "div",
      { class: "bar" },
      h(
        "p",
        {},
        "Row minus column",
        h("span", { class: "p" }, ", with the p-value below"),
        ".",
        h("span", { class: "how" }, " Click to compare two systems."),
      ),
      measure.node,
    ),
    tableBox("Significance matrix", table),
    note,
  );
  node.classList.toggle("wide", report.systems.length > WIDE);
  let drawn = "";

  function draw(): void {
    const { state } = page;
    const key = `${which} ${state.system} ${state.other}`;
    if (key === drawn) return;
    drawn = key;
    const pairs = tested[which]!;
    const means = report.measures[pairs.measure]!.means;
    const better = report.measures[pairs.measure]!.higherIsBetter === false ? -1 : 1;
    const systems = report.systems
      .map((_, s) => s)
      .sort(byValue((s) => means[s], better < 0))
      .slice(0, MOST);
    const count = report.systems.length;
    const at = (a: number, b: number): number => a * count - (a * (a + 1)) / 2 + b - a - 1;
    const cell = (row: number, column: number): HTMLElement => {
      if (row === column) return h("td", { class: "none" }, "");
      const i = at(Math.min(row, column), Math.max(row, column));
      const difference = pairs.difference[i] == null ? null : pairs.difference[i]! * (row > column ? 1 : -1);
      const p = pairs.adjusted?.[i] ?? pairs.p[i];
      const is = p != null && p < (pairs.alpha ?? 0.05);
      const won = is && difference !== null && better * difference > 0;
      const chosen = state.system === row && state.other === column;
      return h(
        "td",
        { class: is ? (won ? "win" : "loss") : null },
        h(
          "button",
          {
            type: "button",
            "aria-pressed": String(chosen),
            title: `${shown(report.systems[row]!)} against ${shown(report.systems[column]!)}`,
            onclick: () => page.set({ system: row, other: column }),
          },
          h("span", { class: "number" }, `${signed(difference, 3)}${is ? " ✓" : ""}`),
          h("small", { class: "number" }, `p ${probability(p)}`),
        ),
      );
    };
    put(
      table,
      h("caption", { class: "hidden" }, "Differences between all pairs of systems"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", { class: "none" }),
          systems.map((s) => h("th", { scope: "col" }, nameOf(page, s, 16))),
        ),
      ),
      h(
        "tbody",
        {},
        systems.map((row) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, system(page, row, 22), h("small", { class: "number" }, fixed(means[row]))),
            systems.map((column) => cell(row, column)),
          ),
        ),
      ),
    );
    const left = count > MOST ? ` The best ${MOST} of ${count} systems are shown.` : "";
    const corrected = pairs.correction ? `, adjusted by ${pairs.correction}` : "";
    say(note, `Test: ${pairs.test}${corrected}. ${MARKS}${left}`);
  }
  return { node, draw };
}
