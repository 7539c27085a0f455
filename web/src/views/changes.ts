// Changes from the baseline's lists to another system's, without judgments; most changed queries first.
import type { Documents } from "../decode.ts";
import {
  button,
  type Child,
  choices,
  count,
  fill,
  fixed,
  h,
  numeric,
  say,
  share,
  short,
  shown,
  tableBox,
} from "../dom.ts";
import { nameOf, openQuery, type Page, section, system, type View, weighted } from "../page.ts";
import { systemOrder } from "./leaderboard.ts";

const FIRST = 10;
const MORE = 40;

interface Change {
  query: number;
  came: number;
  went: number;
  moved: number;
  /** 1 - overlap: the documents in both lists, divided by the length of the longer list. */
  share: number;
}

/** The changes in the first k ranks of every query that both systems answer. */
export function changesOf({ report }: Page, { docs, depth }: Documents, from: number, to: number, k: number): Change[] {
  const n = report.queries.length;
  const found: Change[] = [];
  for (let q = 0; q < n; q++) {
    if (!report.answered[from * n + q] || !report.answered[to * n + q]) continue;
    const [old, now] = [from, to].map((s) => {
      const list = (s * n + q) * depth;
      return [...docs.subarray(list, list + k)].filter((each) => each);
    }) as [number[], number[]];
    const was = new Map(old.map((document, rank) => [document, rank]));
    const same = now.filter((document) => was.has(document)).length;
    const moved = now.filter((document, rank) => was.has(document) && was.get(document) !== rank).length;
    const longer = Math.max(old.length, now.length);
    found.push({
      query: q,
      came: now.length - same,
      went: old.length - same,
      moved,
      share: (longer - same) / Math.max(1, longer),
    });
  }
  return found;
}

export function changes(page: Page): View | null {
  const { report, looks } = page;
  const base = report.baseline;
  const others = systemOrder(page).filter((s) => s !== base);
  if (base === null || !others.length) return null;
  const known = report.judged!.k.filter((k) => k <= report.depth);
  const depths = known.length ? known : [report.depth];
  const redraw = (): void => {
    rows = FIRST;
    draw();
  };
  const depth = choices(
    "Ranks",
    depths.map((k): [string, string] => [String(k), `1–${k}`]),
    redraw,
  );
  depth.select.value = String(depths.find((k) => k >= 10) ?? depths.at(-1));
  const run = choices(
    "System",
    others.map((s): [string, string] => [String(s), looks.name(s)]),
    redraw,
  );
  run.node.hidden = others.length < 2;
  const summary = h("table");
  const meaning = [
    `came, went, moved: documents per query (${weighted(report)}mean)`,
    "unchanged, reordered: queries with the same documents in the same and in another order",
  ];
  const words = h("p", { "aria-live": "polite" });
  const table = h("table");
  const list = tableBox("Most changed queries", table);
  const showMore = (): void => {
    rows += MORE;
    draw();
  };
  const more = button("Show more", showMore, { class: "more" });
  const tables = h(
    "div",
    {},
    tableBox("Changes by system", summary),
    h("p", { class: "note" }, `${meaning.join("; ")}.`),
    h("div", { class: "bar" }, h("h3", {}, "Most changed queries"), run.node),
    words,
    list,
    more,
  );
  const about = h("p", {}, "Changes from the lists of ", nameOf(page, base), ", whether documents are judged or not.");
  const node = section("changes", "Changes", h("div", { class: "bar" }, about, depth.node), tables);
  let rows = FIRST;
  let before = "";

  function draw(): void {
    const documents = page.documents();
    tables.hidden = depth.node.hidden = !documents;
    if (!documents) {
      say(about, "The report contains no document IDs.");
      return;
    }
    const [k, chosen] = [Math.min(Number(depth.select.value), documents.depth), Number(run.select.value)];
    const key = `${k} ${chosen} ${rows}`;
    if (key === before) return;
    before = key;
    const found = new Map(others.map((s) => [s, changesOf(page, documents, base!, s, k)]));
    const weight = ({ query }: Change): number => report.weights?.[query] ?? 1;
    const mean = (of: Change[], which: keyof Change): number =>
      of.reduce((sum, each) => sum + weight(each) * each[which], 0) / of.reduce((sum, each) => sum + weight(each), 0);
    const same = (of: Change[]): number => of.filter(({ came, went, moved }) => !came && !went && !moved).length;
    const reordered = (of: Change[]): number => of.filter(({ came, went, moved }) => !came && !went && moved).length;
    fill(
      summary,
      `Changes in the top ${k}`,
      ["System", ...["changed", "came", "went", "moved", "unchanged", "reordered"].map(numeric)],
      [...found].map(([s, of]) => [
        system(page, s, 34),
        share(mean(of, "share")),
        ...(["came", "went", "moved"] as const).map((which) => fixed(mean(of, which), 1)),
        same(of),
        reordered(of),
      ]),
    );
    const of = found.get(chosen)!;
    const [all, kept, moved] = [count(of.length, "query", "queries"), same(of), reordered(of)];
    const order = moved ? `, ${moved.toLocaleString("en")} only in order` : "";
    const left = report.queries.length - of.length;
    const lacking = left ? ` ${count(left, "query is", "queries are")} not answered by both and not counted.` : "";
    const changed = `${share(mean(of, "share"))} of the top ${k} (${weighted(report)}mean over ${all})`;
    const alike = `${count(kept, "query", "queries")} did not change${order}`;
    say(words, `${looks.name(chosen)} changes ${changed}; ${alike}.${lacking}`);
    const sorted = of.filter((each) => each.came || each.went || each.moved);
    sorted.sort((a, b) => b.share - a.share || b.moved - a.moved || a.query - b.query);
    const cells = ({ query, came, went, moved, share: changed }: Change): Child[] => [
      button(shown(report.queries[query]!), () => openQuery(page, query, { system: chosen, other: base! }), {
        class: "link",
      }),
      ...(report.texts ? [h("td", { class: "text" }, short(report.texts[query] ?? "", 70))] : []),
      share(changed),
      came,
      went,
      moved,
    ];
    const heads = ["Query", ...(report.texts ? ["Text"] : []), ...["changed", "came", "went", "moved"].map(numeric)];
    fill(table, `Changes in the top ${k} of ${looks.name(chosen)}`, heads, sorted.slice(0, rows).map(cells));
    list.hidden = !sorted.length;
    more.hidden = rows >= sorted.length;
  }
  return { node, draw };
}
