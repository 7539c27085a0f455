// One query: both lists side by side, the documents' moves, the arithmetic of both scores, and the ideal list.
import {
  button,
  type Child,
  count,
  fill,
  fixed,
  h,
  numeric,
  plain,
  put,
  say,
  shown,
  short,
  signed,
  svg,
  tableBox,
} from "../dom.ts";
import type { Documents } from "../decode.ts";
import { eachIdealLevel, isNormalised, levelOrder } from "../measures.ts";
import { gradeChip, liveName, type Page, system, type View } from "../page.ts";
import { discountText } from "./controls.ts";
import { chosenQueries } from "./queries.ts";

const FIRST = 20;
const ROW = 30; // height of a row of the lists, as in the style sheet

export function query(page: Page): View {
  const { report } = page;
  const n = report.queries.length;
  const title = h("h2", { id: "query-title", tabindex: -1 });
  const text = h("p", { class: "text" });
  const scores = h("p", {});
  const note = h("p", { class: "note" });
  const lists = h("div", { class: "lists" });
  const arithmetic = h("table", { class: "dense" });
  const ideal = h("table", { class: "dense" });
  let most = FIRST;
  const more = button(
    "Show more ranks",
    () => {
      most += 40;
      draw();
    },
    { class: "more" },
  );
  const step = (by: number): void => {
    const order = [...chosenQueries(page)];
    const at = order.indexOf(report.queries.indexOf(page.state.query));
    const next = order[at < 0 ? 0 : (at + by + order.length) % order.length];
    if (next !== undefined) page.set({ query: report.queries[next]! });
  };
  const close = (): void => {
    page.set({ query: "" });
    document.getElementById("queries-title")?.focus();
  };
  const bar = h(
    "div",
    { class: "bar" },
    title,
    h(
      "div",
      { class: "buttons" },
      button("← Previous", () => step(-1), { "aria-label": "Previous query" }),
      button("Next →", () => step(1), { "aria-label": "Next query" }),
      button("Close", close, { "aria-label": "Close the query" }),
    ),
  );
  const node = h(
    "section",
    { id: "query", hidden: true, "aria-labelledby": "query-title" },
    bar,
    text,
    scores,
    lists,
    note,
    more,
    h("h3", {}, "Arithmetic, rank by rank"),
    tableBox("Arithmetic, rank by rank", arithmetic),
    h("h3", {}, "Ideal list"),
    tableBox("Ideal list", ideal),
  );

  const code = (s: number, q: number, r: number): number => report.grades[(s * n + q) * report.depth + r]!;

  function draw(): void {
    const { state, live } = page;
    const q = report.queries.indexOf(state.query);
    node.hidden = q < 0;
    if (q < 0) return;
    live.cumulate();
    const documents = page.documents();
    const pair = [...new Set([state.system, state.other])];
    say(title, `Query ${shown(state.query)}`);
    say(text, shown(report.texts?.[q] ?? ""));
    const values = pair.map((s) => live.scores[s * n + q]!);
    put(
      scores,
      pair.flatMap((s, i) => [
        i ? " against " : "",
        system(page, s),
        " ",
        h("strong", { class: "number" }, fixed(values[i])),
      ]),
      pair.length > 1 ? `, difference ${signed(values[0]! - values[1]!)}` : "",
      ` (${liveName(page)})`,
    );
    const depth = Math.min(report.depth, most);
    drawLists(q, pair, depth, documents);
    drawArithmetic(q, pair, depth);
    drawIdeal(q, pair, documents);
    // The arithmetic and the ideal list extend to the depth, even if both lists are shorter.
    more.hidden = depth >= report.depth || (depth >= state.depth && pair.every((s) => !code(s, q, depth)));
    const told = documents ? (documents.note ?? "") : "The report contains no document IDs.";
    say(note, told);
    note.hidden = !told;
  }

  function drawLists(q: number, pair: number[], depth: number, documents: Documents | null): void {
    const named = documents?.depth ?? 0;
    const doc = (s: number, r: number): number => (r < named ? documents!.docs[(s * n + q) * named + r]! : 0);
    const places = pair.map((s) => {
      const found = new Map<number, number>();
      for (let r = 0; r < named; r++) if (doc(s, r)) found.set(doc(s, r), r);
      return found;
    });
    const list = (s: number, side: number): HTMLElement => {
      const rows = [];
      for (let r = 0; r < depth && code(s, q, r); r++) {
        const id = doc(s, r);
        const there = pair.length > 1 && id ? places[1 - side]!.get(id) : undefined;
        rows.push(
          h(
            "li",
            { class: r + 1 === page.state.depth ? "cut" : null },
            h("span", { class: "rank" }, String(r + 1)),
            gradeChip(report.levels, code(s, q, r)),
            documentName(documents, q, id),
            id && pair.length > 1 ? move(r, there) : null,
          ),
        );
      }
      const nothing = !report.answered[s * n + q] ? "The query was not answered." : "The list is empty.";
      return h(
        "div",
        { class: "list" },
        h("h3", {}, system(page, s, 30)),
        rows.length
          ? h("ol", { "aria-label": `Ranking of ${shown(report.systems[s]!)}` }, rows)
          : h("p", { class: "note" }, nothing),
      );
    };
    const columns = pair.map((s, side) => list(s, side));
    if (columns.length > 1) columns.splice(1, 0, moves(q, pair, depth, doc, places[1]!));
    put(lists, columns);
    lists.classList.toggle("titled", !!documents?.titles);
  }

  /** The change of a document's rank from the other list. */
  function move(r: number, there: number | undefined): HTMLElement {
    if (there === undefined)
      return h("span", { class: "move new", title: "not among the known ranks of the other list" }, "only here");
    const by = there - r;
    if (!by) return h("span", { class: "move" }, "=");
    const title = `rank ${there + 1} in the other list`;
    return h("span", { class: "move", title }, by > 0 ? `▲ ${by}` : `▼ ${-by}`);
  }

  function documentName(
    documents: Documents | null,
    q: number,
    id: number,
    unknown = "document",
  ): HTMLElement {
    const text = id ? documents!.ids[q]![id - 1]! : "";
    const about = text && documents?.titles?.[text];
    return h(
      "span",
      { class: "document", title: shown(about ? `${about} (${text})` : text) },
      about
        ? [h("bdi", {}, shown(about)), h("bdi", { class: "id" }, short(text, 40))]
        : h("bdi", {}, text ? short(text, 60) : unknown),
    );
  }

  /** Lines from each document to its rank in the other list. */
  function moves(
    q: number,
    pair: number[],
    depth: number,
    doc: (s: number, r: number) => number,
    there: Map<number, number>,
  ): HTMLElement {
    const box = svg("svg", { viewBox: `0 0 60 ${depth * ROW}`, width: 60, height: depth * ROW, "aria-hidden": "true" });
    for (let r = 0; r < depth; r++) {
      const to = doc(pair[0]!, r) ? there.get(doc(pair[0]!, r)) : undefined;
      if (to === undefined || to >= depth) continue;
      const level = report.levels[code(pair[0]!, q, r) - 2] ?? 0;
      box.append(
        svg("path", {
          d: `M0 ${(r + 0.5) * ROW}C30 ${(r + 0.5) * ROW} 30 ${(to + 0.5) * ROW} 60 ${(to + 0.5) * ROW}`,
          class: level > 0 ? "gains" : "",
        }),
      );
    }
    return h("div", { class: "moves" }, box);
  }

  function drawArithmetic(q: number, pair: number[], depth: number): void {
    const { state, live } = page;
    const normalised = isNormalised(state);
    const total = state.measure.replace(/^n/, "");
    const to = Math.min(depth, Math.max(state.depth, 1));
    const sums = pair.map(() => 0);
    const rows = [];
    const gains = idealGains(q, to);
    for (let r = 0; r < to; r++) {
      const best = live.ideals[q * report.depth + r]!;
      const cells = pair.flatMap((s, i) => {
        const gain = gainOf(code(s, q, r));
        const worth = gain / live.divisors[r]!;
        sums[i]! += worth;
        return [
          plain(gain),
          fixed(worth),
          fixed(sums[i]),
          ...(normalised
            ? [best > 0 ? fixed(Math.min(sums[i]! / best, state.discount === "jarvelin2000" ? Infinity : 1)) : "–"]
            : []),
        ];
      });
      rows.push(
        h(
          "tr",
          { class: r + 1 === state.depth ? "cut" : null },
          h("th", { scope: "row" }, String(r + 1)),
          h("td", { class: "number" }, fixed(live.divisors[r]!, 3)),
          cells.map((cell) => h("td", { class: "number" }, cell)),
          h("td", { class: "number" }, plain(gains[r] ?? 0)),
          h("td", { class: "number" }, fixed(best)),
        ),
      );
    }
    const heads = ["gain", "÷ discount", total, ...(normalised ? [state.measure] : [])];
    put(
      arithmetic,
      h("caption", {}, `${state.measure} to rank ${to}, gains ${discountText(state)}`),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          h("td", {}),
          pair.map((s) => h("th", { scope: "colgroup", colspan: heads.length, class: "group" }, system(page, s, 24))),
          h("th", { scope: "colgroup", colspan: 2, class: "group" }, "ideal"),
        ),
        h(
          "tr",
          {},
          h("th", { scope: "col" }, "Rank"),
          h("th", { scope: "col", class: "number" }, "Discount"),
          pair.flatMap(() => heads.map((head) => h("th", { scope: "col", class: "number" }, head))),
          h("th", { scope: "col", class: "number" }, "gain"),
          h("th", { scope: "col", class: "number" }, total),
        ),
      ),
      h("tbody", {}, rows),
    );
  }

  const gainOf = (cell: number): number => (cell > 1 ? page.state.gains[cell - 2]! : 0);

  function idealGains(q: number, depth: number): number[] {
    const found: number[] = [];
    const order = levelOrder(page.state.gains).filter((level) => page.state.gains[level]! > 0);
    eachIdealLevel(report, q, order, depth, (level, from, to) => {
      for (let r = from; r < to; r++) found.push(page.state.gains[level]!);
    });
    return found;
  }

  function drawIdeal(q: number, pair: number[], documents: Documents | null): void {
    const { state } = page;
    const depth = Math.min(state.depth, most);
    const order = levelOrder(state.gains).filter((level) => state.gains[level]! > 0);
    const known = new Map<number, number[]>(); // documents by level
    for (let i = documents?.poolDocAt?.[q] ?? 0; i < (documents?.poolDocAt?.[q + 1] ?? 0); i++) {
      const level = documents!.poolDocLevel[i]!;
      known.set(level, [...(known.get(level) ?? []), documents!.poolDoc[i]!]);
    }
    const named = documents?.depth ?? 0;
    const rankIn = (s: number, id: number): string => {
      for (let r = 0; r < named; r++) if (documents!.docs[(s * n + q) * named + r]! === id + 1) return String(r + 1);
      return documents && id >= 0 ? `not in top ${named}` : "–";
    };
    const rows: Child[][] = [];
    eachIdealLevel(report, q, order, depth, (level, from, to) => {
      for (let r = from; r < to; r++) {
        const id = known.get(level)?.[r - from] ?? -1;
        const found = documentName(documents, q, id + 1, `a document judged ${plain(report.levels[level]!)}`);
        rows.push([
          r + 1,
          gradeChip(report.levels, level + 2),
          plain(state.gains[level]!),
          found,
          ...pair.map((s) => rankIn(s, id)),
        ]);
      }
    });
    const about = `Ideal list to rank ${depth}: ${count(rows.length, "document")} with gain`;
    const rankHeads = pair.map((s) => numeric(`rank in ${page.looks.name(s, 18)}`));
    const heads = ["Rank", "Grade", numeric("Gain"), { text: "Document", className: "text" }, ...rankHeads];
    fill(ideal, rows.length ? about : "No judged document has a gain above 0.", heads, rows);
  }
  return { node, draw };
}
