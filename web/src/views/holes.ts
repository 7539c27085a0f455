// Unjudged documents: the judged share of the top ranks, and the unjudged documents in one or both lists.
import type { Documents } from "../decode.ts";
import { button, type Child, choices, count, fill, fixed, h, numeric, say, share, short, shown, tableBox } from "../dom.ts";
import { hasPair, openQuery, type Page, section, system, type View } from "../page.ts";

const FIRST = 10;
const MORE = 40;

interface Hole {
  query: number;
  document: string;
  ranks: [number, number];
}

/** Unjudged documents to a depth in either of two lists; rank 0: not in the list. */
export function holesOf(page: Page, documents: Documents, depth: number): Hole[] {
  const { report, state } = page;
  const n = report.queries.length;
  const found: Hole[] = [];
  const to = Math.min(depth, documents.depth);
  for (let q = 0; q < n; q++) {
    const seen = new Map<number, Hole>();
    [...new Set([state.system, state.other])].forEach((s, side) => {
      const list = s * n + q;
      for (let r = 0; r < to; r++) {
        if (report.grades[list * report.depth + r] !== 1) continue;
        const id = documents.docs[list * documents.depth + r]!;
        if (!id) continue;
        const hole = seen.get(id) ?? { query: q, document: documents.ids[q]![id - 1]!, ranks: [0, 0] };
        hole.ranks[side] = r + 1;
        seen.set(id, hole);
      }
    });
    found.push(...seen.values());
  }
  const best = ({ ranks: [a, b] }: Hole): number => Math.min(a || Infinity, b || Infinity);
  return found.sort((a, b) => best(a) - best(b) || a.query - b.query);
}

export function holes(page: Page): View | null {
  const { report } = page;
  const { judged } = report;
  if (!judged?.k.length) return null;
  const depths = judged.k.filter((k) => k <= report.depth);
  const depth = choices(
    "Ranks",
    depths.map((k): [string, string] => [String(k), `1–${k}`]),
    () => draw(),
  );
  depth.select.value = String(depths.find((k) => k >= 10) ?? depths.at(-1));
  const shares = h("table");
  // If only relevant documents are judged, all others are unjudged, which needs no warning.
  const low = (value: number): string | null => (!judged.tells || value >= 0.8 ? null : value < 0.5 ? "very" : "");
  const isLow = judged.share.some((each) => each.some((value) => low(value ?? 1) !== null));
  const cell = (value: number | null | undefined): HTMLElement =>
    h("td", { class: "number", "data-low": low(value ?? 1) }, share(value));
  const heads = judged.k.map((k) => numeric(`Judged@${k}`));
  const bounded = report.measures.filter((measure) => measure.bounds);
  const rowsOfShares = report.systems.map((_, s) => [
    system(page, s, 34),
    ...judged.share.map((each) => cell(each[s])),
  ]);
  fill(shares, "Share of judged documents in the top ranks", ["System", ...heads], rowsOfShares);
  const possible = h("table");
  const ranges = report.systems.map((_, s) => [
    system(page, s, 34),
    ...bounded.map(({ bounds }) => `${fixed(bounds!.lowest[s])} to ${fixed(bounds!.highest[s])}`),
  ]);
  const columns = ["System", ...bounded.map(({ name }) => numeric(name))];
  fill(possible, "Lowest and highest means if the unjudged documents of the lists had any grades", columns, ranges);
  const words = h("p", { "aria-live": "polite" });
  const table = h("table");
  const list = tableBox("Unjudged documents in the top ranks", table);
  let rows = FIRST;
  const showMore = (): void => {
    rows += MORE;
    draw();
  };
  const more = button("Show more", showMore, { class: "more" });
  const node = section(
    "holes",
    "Unjudged documents",
    h(
      "p",
      {},
      "Unjudged documents gain nothing.",
      hasPair(page) &&
        " If the compared systems have different numbers of them, part of the difference may be due to the judgments.",
      !judged.tells && " These judgments contain only relevant documents, so all others are unjudged.",
    ),
    tableBox("Share of judged documents", shares),
    isLow && h("p", { class: "note" }, "Shaded: less than 80% judged; darker: less than 50%."),
    bounded.length > 0 && tableBox("Possible means", possible),
    h("div", { class: "bar" }, h("h3", {}, "List", hasPair(page) && " for the compared systems"), depth.node),
    words,
    list,
    more,
  );
  let before = "";
  let found: Hole[] = [];

  function draw(): void {
    const documents = page.documents();
    list.hidden = more.hidden = !documents;
    if (!documents) {
      say(words, "The report contains no document IDs.");
      return;
    }
    const { state } = page;
    const k = Number(depth.select.value);
    const key = `${state.system} ${state.other} ${k} ${rows}`;
    if (key === before) return;
    found = holesOf(page, documents, k);
    before = key;
    const pair = [...new Set([state.system, state.other])];
    const [one, other] = [page.looks.name(state.system), page.looks.name(state.other)];
    const both = found.filter(({ ranks: [a, b] }) => a && b).length;
    const first = found.filter(({ ranks: [, b] }) => !b).length;
    const only = `${first} only in ${one}, ${found.length - both - first} only in ${other}`;
    const ranks = `ranks 1–${Math.min(k, documents.depth)}`;
    const limit = k > documents.depth ? ` Documents are known only to rank ${documents.depth}.` : "";
    const where = pair.length > 1 ? `: ${both} in both lists, ${only}` : "";
    say(
      words,
      found.length
        ? `${count(found.length, "unjudged document")} at ${ranks}${where}.${limit}`
        : `Every document at ${ranks}${pair.length > 1 ? " of both lists" : ""} is judged.${limit}`,
    );
    list.hidden = !found.length;
    const cells = ({ query, document, ranks }: Hole): Child[] => [
      button(shown(report.queries[query]!), () => openQuery(page, query), { class: "link" }),
      h("bdi", { title: shown(document) }, short(documents.titles?.[document] ?? document, 70)),
      ...ranks.slice(0, pair.length).map((rank) => rank || "–"),
    ];
    const rankIn = pair.map((s) => numeric(`rank in ${page.looks.name(s, 20)}`));
    const columns = ["Query", { text: "Document", className: "text" }, ...rankIn];
    fill(table, "Unjudged documents, best ranks first", columns, found.slice(0, rows).map(cells));
    more.hidden = rows >= found.length;
  }
  return { node, draw };
}
