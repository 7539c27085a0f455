// Elements and texts. Ids, titles and names are data: they become text nodes, never markup.

type Props = Record<string, unknown>;
export type Child = Node | string | number | null | undefined | false;

const SVG = "http://www.w3.org/2000/svg";

function filled<E extends Element>(element: E, props: Props, children: (Child | Child[])[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name in element && (name === "value" || name === "checked" || name === "disabled" || name === "hidden"))
      (element as unknown as Props)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** An element with attributes, listeners (`onclick`) and children. */
export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] => filled(document.createElement(tag), props, children);

/** The same for SVG. */
export const svg = (tag: string, props: Props = {}, ...children: Child[]): SVGElement =>
  filled(document.createElementNS(SVG, tag) as SVGElement, props, children);

const nodes = (children: (Child | Child[])[]): Node[] =>
  children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (typeof child === "object" ? (child as Node) : document.createTextNode(String(child))));

/** Replaces the children of a node. */
export const put = (element: Element, ...children: (Child | Child[])[]): void =>
  element.replaceChildren(...nodes(children));

/** Sets a text only if it differs, to avoid a layout. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A name or ID with invisible characters and marks of writing direction escaped. */
export const shown = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu,
    (c) => `\\u${c.codePointAt(0)!.toString(16).padStart(4, "0")}`,
  );

/** The same, without its middle if it is long. */
export function short(text: string, most = 24): string {
  const all = [...shown(text)];
  if (all.length <= most) return all.join("");
  const end = (most - 1) >> 1;
  return `${all.slice(0, most - 1 - end).join("")}…${all.slice(all.length - end).join("")}`;
}

/** Common letters kept before the first differing letter of shortened names. */
const CONTEXT = 10;

/** Names shortened to about `most` letters but still unique: without common prefixes and suffixes, longer if they
 * would be equal. */
export function shortNames(names: string[], most: number): string[] {
  const all = names.map((text) => [...shown(text)]);
  const least = Math.min(...all.map((each) => each.length));
  let [start, end] = [0, 0];
  while (start < least && all.every((each) => each[start] === all[0]![start])) start++;
  while (end < least - start && all.every((each) => each.at(-1 - end) === all[0]!.at(-1 - end))) end++;
  // A suffix begins at the end of a word: k100 and k200 do not end in a common 00.
  while (end && /[\p{L}\p{N}]/u.test(all[0]!.at(-end)!)) end--;
  const cut = (each: string[], size: number): string => {
    if (each.length <= size || names.length < 2) return short(each.join(""), size);
    const room = size - 2 - (each.length - start - end);
    const from = start - Math.max(0, Math.min(start, room, CONTEXT));
    const own = short(each.slice(from, each.length - end).join(""), size - 2);
    return `${from ? "…" : ""}${from ? own.replace(/^[^\p{L}\p{N}]+/u, "") : own}${end ? "…" : ""}`;
  };
  const longest = Math.max(...all.map((each) => each.length));
  for (let size = most; size < longest; size += 4) {
    const found = all.map((each) => cut(each, size));
    if (new Set(found).size === new Set(names).size) return found;
  }
  return all.map((each) => each.join(""));
}

/** A name that keeps its writing direction. */
export const name = (text: string, most = 60): HTMLElement => h("bdi", { title: shown(text) }, short(text, most));

/** Indices sorted by value; NaN comes last in both directions. */
export const byValue =
  (value: (place: number) => number | null | undefined, rising: boolean) =>
  (a: number, b: number): number => {
    const [one, other] = [value(a), value(b)].map((each) => (Number.isNaN(each ?? NaN) ? null : each!));
    if (one === null || other === null) return Number(one === null) - Number(other === null) || a - b;
    return (rising ? one! - other! : other! - one!) || a - b;
  };

const MINUS = "−";
const isNone = (value: number | null | undefined): boolean => Number.isNaN(value ?? NaN);

export const fixed = (value: number | null | undefined, places = 4): string =>
  isNone(value)
    ? "–"
    : value!
        .toFixed(places)
        .replace("-", MINUS)
        .replace(/^−(0\.0*)$/, "$1");
export const signed = (value: number | null | undefined, places = 4): string => {
  const text = fixed(value, places);
  return isNone(value) || text.startsWith(MINUS) || !/[1-9]/.test(text) ? text : `+${text}`;
};
export const share = (value: number | null | undefined): string =>
  isNone(value) ? "–" : `${(100 * value!).toFixed(1)}%`;
export const probability = (p: number | null | undefined): string =>
  isNone(p) ? "–" : p! < 0.0001 ? "< 0.0001" : p!.toFixed(p! < 0.001 || p!.toFixed(3) === "0.050" ? 4 : 3);
/** A number without trailing zeros. */
export const plain = (value: number): string => String(Number(value.toPrecision(6)));
export const count = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
export const listed = (items: string[], word = "and"): string =>
  items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;

export interface Heading {
  text: string;
  title?: string;
  isNumber?: boolean;
  className?: string;
  isHidden?: boolean;
  key?: string;
}

/** The head of a table; columns with a key are sortable. */
export function sortableHead(
  columns: Heading[],
  sorted: () => { key: string; falling: boolean },
  sort: (key: string, falling: boolean) => void,
): { row: HTMLTableRowElement; draw: () => void } {
  const cells = columns.map((column) =>
    h(
      "th",
      { scope: "col", class: column.isNumber ? "number" : column.className, title: column.title },
      column.key === undefined
        ? column.isHidden
          ? h("span", { class: "hidden" }, column.text)
          : column.text
        : h(
            "button",
            {
              class: "sort",
              type: "button",
              onclick: () => {
                const now = sorted();
                sort(column.key!, now.key === column.key ? !now.falling : !!column.isNumber);
              },
            },
            column.text,
          ),
    ),
  );
  const draw = (): void => {
    const now = sorted();
    cells.forEach((cell, i) => {
      const key = columns[i]!.key;
      if (key === undefined) return;
      cell.setAttribute("aria-sort", key !== now.key ? "none" : now.falling ? "descending" : "ascending");
    });
  };
  return { row: h("tr", {}, cells), draw };
}

/** The heading of a column of numbers. */
export const numeric = (text: string): Heading => ({ text, isNumber: true });

/** Fills a table. The first cell of a row is its heading; a cell may be a `td` element. */
export function fill(table: HTMLTableElement, caption: string, heads: (Heading | string)[], rows: Child[][]): void {
  const columns = heads.map((head): Heading => (typeof head === "string" ? { text: head } : head));
  const kind = (i: number): string | undefined => (columns[i]!.isNumber ? "number" : columns[i]!.className);
  const cell = (child: Child, i: number): Child => {
    if (child instanceof HTMLTableCellElement) return child;
    return i ? h("td", { class: kind(i) }, child) : h("th", { scope: "row" }, child);
  };
  put(
    table,
    h("caption", {}, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        columns.map(({ text }, i) => h("th", { scope: "col", class: kind(i) }, text)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map((row) => h("tr", {}, row.map(cell))),
    ),
  );
}

export const button = (text: Child, onclick: () => void, props: Props = {}): HTMLButtonElement =>
  h("button", { type: "button", onclick, ...props }, text);

/** A table as a CSV file; some spreadsheets need a byte order mark for non-ASCII text. */
export function csv(rows: (string | number | null | undefined)[][]): string {
  const cell = (value: string | number | null | undefined): string => {
    const text = isNone(value as number) && typeof value !== "string" ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const text = rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
  return /[^\x00-\x7f]/.test(text) ? `\ufeff${text}` : text;
}

/** A button that saves a table with its header as a file. */
export const download = (label: string, file: string, rows: () => Parameters<typeof csv>[0]): HTMLButtonElement =>
  button(label, () => {
    const href = URL.createObjectURL(new Blob([csv(rows())], { type: "text/csv" }));
    h("a", { href, download: file }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  });

async function isCopied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Frames in notebooks, and local files in some browsers, support only the older API.
    const area = h("textarea", { class: "hidden", readonly: true });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A button that copies a text and confirms it briefly. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const node = button(
    label,
    async () => {
      say(node, (await isCopied(text())) ? "Copied" : "Blocked by the browser");
      node.focus({ preventScroll: true });
      setTimeout(() => say(node, label), 2000);
    },
    { "aria-live": "polite" },
  );
  return node;
}

/** A table in a box that scrolls on narrow pages. */
export const tableBox = (label: string, table: HTMLTableElement): HTMLElement =>
  h("div", { class: "scroll", role: "group", "aria-label": label, tabindex: 0 }, table);

/** A select element of values with their texts. */
export function choices(
  label: string,
  options: [string, string][],
  chosen: (value: string) => void,
): {
  node: HTMLLabelElement;
  select: HTMLSelectElement;
} {
  const select = h(
    "select",
    { onchange: () => chosen(select.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  return { node: h("label", { class: "field" }, h("span", {}, label), select), select };
}
