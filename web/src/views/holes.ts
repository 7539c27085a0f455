// Holes: what is judged of the top ranks, and the unjudged documents there that the two lists share or not.
import type { Documents } from "../decode.ts";
import { choices, count, h, put, say, share, shown, short, tableBox } from "../dom.ts";
import { type Page, section, system, type View } from "../page.ts";

const FIRST = 10;
const MORE = 40;

interface Hole {
  query: number;
  document: string;
  ranks: [number, number];
}

/** Unjudged documents to a depth in either of two lists; rank 0: not there. */
export function holesOf(page: Page, documents: Documents, depth: number): Hole[] {
  const { report, state } = page;
  const n = report.queries.length;
  const found: Hole[] = [];
  const to = Math.min(depth, documents.depth);
  for (let q = 0; q < n; q++) {
    const seen = new Map<number, Hole>();
    [state.system, state.other].forEach((s, side) => {
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
  const depth = choices("Ranks", depths.map((k): [string, string] => [String(k), `1–${k}`]), () => draw());
  depth.select.value = String(depths.find((k) => k >= 10) ?? depths.at(-1));
  const shares = h("table", {}, h("caption", { class: "hidden" }, "Share of judged documents in the top ranks"), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "System"), judged.k.map((k) => h("th", { scope: "col", class: "number" }, `Judged@${k}`)))), h("tbody", {}, report.systems.map((_, s) => h("tr", {}, h("th", { scope: "row" }, system(page, s, 34)), judged.k.map((_, i) => {
    const value = judged.share[i]?.[s];
    return h("td", { class: "number", "data-low": value != null && value < 0.5 ? "very" : value != null && value < 0.8 ? "" : null }, share(value));
  })))));
  const words = h("p", { "aria-live": "polite" });
  const heads = [h("th", { scope: "col", class: "number" }), h("th", { scope: "col", class: "number" })];
  const body = h("tbody");
  let rows = FIRST;
  const list = tableBox("Unjudged documents in the top ranks", h("table", {}, h("caption", { class: "hidden" }, "Unjudged documents in the top ranks"), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Query"), h("th", { scope: "col" }, "Document"), heads)), body));
  const more = h("button", { type: "button", class: "more", onclick: () => { rows += MORE; draw(); } }, "Show more");
  const node = section("holes", "Holes in the judgments", h("p", {}, "Unjudged documents gain nothing. Where the two lists differ in how many they have, the difference may come from the judgments."), tableBox("Share of judged documents", shares), h("div", { class: "bar" }, h("h3", {}, "Unjudged documents of the two compared"), depth.node), words, list, more);
  let before = "";
  let found: Hole[] = [];

  function draw(): void {
    const documents = page.documents();
    list.hidden = more.hidden = !documents;
    if (!documents) {
      say(words, documents === null ? "The report has no documents' ids." : "Documents are being decoded.");
      return;
    }
    const { state } = page;
    const k = Number(depth.select.value);
    const key = `${state.system} ${state.other} ${k}`;
    if (key !== before) found = holesOf(page, documents, k);
    if (`${key} ${rows}` === `${before} ${body.rows.length}`) return;
    before = key;
    const [one, other] = [shown(report.systems[state.system]!), shown(report.systems[state.other]!)];
    const both = found.filter(({ ranks: [a, b] }) => a && b).length;
    const first = found.filter(({ ranks: [, b] }) => !b).length;
    const limit = k > documents.depth ? ` Documents are known to rank ${documents.depth} only.` : "";
    say(words, found.length ? `${count(found.length, "unjudged document")} in ranks 1–${Math.min(k, documents.depth)}: ${both} in both lists, ${first} with ${one} only, ${found.length - both - first} with ${other} only.${limit}` : `Every document in ranks 1–${Math.min(k, documents.depth)} of both is judged.${limit}`);
    say(heads[0]!, `rank in ${short(report.systems[state.system]!, 20)}`);
    say(heads[1]!, `rank in ${short(report.systems[state.other]!, 20)}`);
    list.hidden = !found.length;
    put(body, found.slice(0, rows).map((hole) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => page.set({ query: report.queries[hole.query]! }) }, shown(report.queries[hole.query]!))), h("td", { class: "text" }, h("bdi", { title: shown(hole.document) }, short(documents.titles?.[hole.document] ?? hole.document, 70))), hole.ranks.map((rank) => h("td", { class: "number" }, rank ? String(rank) : "–")))));
    more.hidden = rows >= found.length;
  }
  return { node, draw };
}
