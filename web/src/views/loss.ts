// Where scores are lost: the parts of 1 - score as stacked bars, after the score.
import { choices, fill, fixed, h, listed, say, svg, tableBox } from "../dom.ts";
import { type Page, section, system, type View } from "../page.ts";
import { systemOrder } from "./leaderboard.ts";

/** Colours of the score and of the parts that better orders gain; then of the others. */
const ORDERS = ["--g4", "--g3", "--g2", "--g1", "--g0"];
const OTHERS: Record<string, string> = { "not retrieved": "--very-low", "out of reach": "--low" };

export function loss(page: Page): View | null {
  const { report } = page;
  const split = report.measures.filter((measure) => measure.loss);
  if (!split.length) return null;
  let of = split.find((measure) => measure === report.measures[report.first]) ?? split[0]!;
  const measure = choices(
    "Measure",
    split.map(({ name }, i): [string, string] => [String(i), name]),
    (value) => {
      of = split[Number(value)]!;
      draw();
    },
  );
  measure.select.value = String(split.indexOf(of));
  measure.node.hidden = split.length < 2;
  const table = h("table", { class: "losses" });
  const words = h("p", { "aria-live": "polite" });
  const about = [
    "Scores fall short of 1 because of the order of documents, relevant documents at later ranks, and relevant documents that were not retrieved.",
    split.some((each) => each.loss!["out of reach"]) && " Out of reach: the best possible lists score less than 1.",
  ];
  const node = section(
    "loss",
    "Where the score is lost",
    h("div", { class: "bar" }, h("p", {}, about), measure.node),
    tableBox("Parts of the loss", table),
    words,
  );

  function draw(): void {
    const { state, looks } = page;
    const parts = Object.entries({ score: of.means, ...of.loss }).filter(([, values]) => values.some((each) => each));
    const colour = (name: string, i: number): string => `var(${OTHERS[name] ?? ORDERS[i] ?? ORDERS.at(-1)})`;
    const text = (name: string): string => (/^\d/.test(name) ? `ranks ${name.replace("-", "–")}` : name);
    const bar = (s: number): HTMLElement => {
      let at = 0;
      const pieces = parts.map(([name, values], i) => {
        const width = 100 * (values[s] ?? 0);
        const piece = { x: `${at}%`, width: `${width}%`, height: 18, fill: colour(name, i) };
        at += width;
        return svg("rect", piece, svg("title", {}, `${text(name)}: ${fixed(values[s])}`));
      });
      return h("td", { class: "stack" }, svg("svg", { height: 18, "aria-hidden": "true" }, ...pieces));
    };
    const heads = parts.map(([name], i) => ({ text: text(name), isNumber: true, colour: colour(name, i) }));
    fill(
      table,
      `${of.name} and the parts of its loss`,
      ["System", { text: "0 to 1", className: "stack" }, ...heads],
      systemOrder(page).map((s) => [system(page, s, 34), bar(s), ...parts.map(([, values]) => fixed(values[s]))]),
    );
    heads.forEach(({ colour }, i) => {
      const square = { width: 12, height: 12 };
      const block = svg("svg", { ...square, "aria-hidden": "true" }, svg("rect", { ...square, rx: 2, fill: colour }));
      table.tHead!.rows[0]!.cells[i + 2]!.prepend(block, " ");
    });
    // The parts that a better order of the first ranks would gain.
    const [first, later] = Object.keys(of.loss!) as [string, string];
    const gained = first === "order" && /^\d/.test(later) ? [first, later] : [first];
    const top = gained.at(-1)!.split("-").at(-1)!.replace("order", "");
    const reached = (s: number): number => gained.reduce((sum, name) => sum + of.loss![name]![s]!, of.means[s]!);
    const said = [...new Set([state.system, state.other])].map(
      (s) => `${looks.name(s)} from ${fixed(of.means[s])} to ${fixed(reached(s))}`,
    );
    say(words, top ? `A perfect reranker of the top ${top} would raise ${of.name} of ${listed(said)}.` : "");
  }
  return { node, draw };
}
