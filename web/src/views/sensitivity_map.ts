// Map of the order of systems by the gain of the highest grade and the discount. A click sets the controls.
import { count, fixed, h, listed, plain, put, say, signed } from "../dom.ts";
import { nameOf, type Page, section, type View } from "../page.ts";
import { divisor } from "../measures.ts";
import { gaining, gainsAt, type Grid, hasDiscount, mapKey, ratioOf, sensitivity } from "../sensitivity.ts";
import { discountText } from "./controls.ts";

const ROW = 26;
const FOOT = 42;
const HEAD = 22;
/** Maps with more sums take longer than a frame; they are drawn when the controls have rested for this time (ms). */
const LARGE = 4000;
const REST = 150;
const TICKS = [1, 2, 3, 5, 10, 20, 30, 50, 100];

export function sensitivityMap(page: Page): View | null {
  const { report, looks } = page;
  const levels = gaining(report);
  if (!levels.length) return null; // no gain is possible
  let grid: Grid | null = null;
  let key = "";
  let orders: { order: string; best: number[] }[] = [];
  let painted = "";
  let waiting = 0;
  const isLarge = report.systems.length * report.queries.length * levels.length > LARGE;
  let ledBy = "";
  let ahead = "";
  const base = h("canvas");
  let at = { row: 0, column: 0 };
  let isPointed = false; // by pointer or keyboard; otherwise the cell of the controls

  const canvas = h("canvas", {
    tabindex: 0,
    role: "application",
    "aria-label": "Sensitivity map: arrow keys move, Enter sets the controls",
    "aria-describedby": "map-cell",
    onclick: () => take(),
    onpointermove: (event: PointerEvent) => point(event.offsetX, event.offsetY),
    onpointerleave: () => follow(),
    onkeydown: (event: KeyboardEvent) => press(event),
  });
  const cellText = h("p", { id: "map-cell", class: "note", "aria-live": "polite" });
  const words = h("p", {});
  const legend = h("div", { class: "map-legend" });
  const modes = (["best", "pair"] as const).map((mode) =>
    h("input", { type: "radio", name: "map", value: mode, onchange: () => page.set({ map: mode }) }),
  );
  const toggle = h(
    "fieldset",
    { class: "segments" },
    h("legend", {}, "Colours"),
    modes.map((input, i) => h("label", {}, input, h("span", {}, ["best system", "compared systems"][i]!))),
  );
  const intro =
    levels.length > 1
      ? "Each cell is a setting: the gain of the highest grade relative to the lowest (left to right), and the weight of documents further down the list (top to bottom)."
      : "Each cell is a setting: the depth to which users read (left to right), and the weight of documents further down the list (top to bottom). Only one grade has a gain, so its size does not matter.";
  const node = section(
    "sensitivity",
    "Does the winner depend on the settings?",
    h("p", {}, intro, " Lines separate cells with different leaders."),
    h("div", { class: "bar" }, legend, report.systems.length > 2 && toggle),
    h("div", { class: "map" }, canvas),
    cellText,
    words,
  );
  let width = 0; // reading it at each step would trigger a layout
  const measure = (): void => void (width = canvas.parentElement!.clientWidth);
  const resized = (): void => {
    measure();
    if (grid) paint();
  };
  new ResizeObserver(resized).observe(canvas.parentElement!);
  for (const event of ["beforeprint", "afterprint"]) addEventListener(event, resized);

  const label = (row: Grid["rows"][number]): string => discountText({ measure: "DCG", ...row });
  /** The share of its gain that a document keeps at the depth. */
  const kept = ({ discount, base }: Grid["rows"][number]): string =>
    `${(100 / divisor(discount, base, page.state.depth)).toFixed(0)}%`;
  const mean = (row: number, column: number, s: number): number =>
    grid!.means[(row * grid!.columns.length + column) * report.systems.length + s]!;

  const difference = (row: number, column: number): number =>
    mean(row, column, page.state.system) - mean(row, column, page.state.other);

  /** Systems by their means, best first, and how many share the first place. Sums in another order may differ in their
   * last digits: that is no difference. */
  function ranked(means: (s: number) => number): { order: string; best: number[] } {
    const values = report.systems.map((_, s) => Math.fround(Number.isNaN(means(s)) ? -1 : means(s)));
    const order = values.map((_, s) => s).sort((a, b) => values[b]! - values[a]! || a - b);
    return { order: order.join(), best: order.filter((s) => values[s] === values[order[0]!]) };
  }

  /** The leader of each cell, -1 for ties; and the size of the lead, from 0 to 1. */
  const leads: { who: number[]; strength: number[] } = { who: [], strength: [] };
  const cells = function* (): Generator<[number, number]> {
    for (let r = 0; r < grid!.rows.length; r++) for (let c = 0; c < grid!.columns.length; c++) yield [r, c];
  };
  function lead(): void {
    const { state } = page;
    const differences = [...cells()].map(([r, c]) => difference(r, c));
    const widest = Math.max(...differences.map(Math.abs), 1e-12);
    leads.who = differences.map((d, i) => {
      if (state.map === "best") return orders[i]!.best.length > 1 ? -1 : orders[i]!.best[0]!;
      return Math.abs(d) < 1e-12 ? -1 : d > 0 ? state.system : state.other;
    });
    leads.strength = differences.map((d) => (state.map === "best" ? 0.62 : 0.15 + (0.7 * Math.abs(d)) / widest));
    const wins = new Map<number, number>();
    for (const each of leads.who) if (each >= 0) wins.set(each, (wins.get(each) ?? 0) + 1);
    const sorted = [...wins].sort((a, b) => b[1] - a[1]);
    const tied = leads.who.filter((each) => each < 0).length;
    const number = (n: number): HTMLElement => h("span", { class: "number" }, String(n));
    put(
      legend,
      sorted.slice(0, 6).map(([s, n]) => {
        const block = h("canvas", { class: "block", width: 14, height: 14 });
        shade(block.getContext("2d")!, s, 0.8, 0, 0, 14, 14);
        return h("span", { class: "entry" }, block, nameOf(page, s), number(n));
      }),
      tied > 0 && h("span", { class: "entry" }, h("span", { class: "block tied" }), "tie", number(tied)),
    );
    const verb = state.map === "best" ? "is best in " : "is ahead in ";
    const of = (n: number): string => (n === leads.who.length ? `all ${count(n, "setting")}` : String(n));
    const found = sorted.slice(0, 4).map(([s, n], i) => `${looks.name(s)} ${i ? "in " : verb}${of(n)}`);
    const all = tied === leads.who.length ? `All ${count(tied, "setting")} are tied` : "";
    const start = found.length && sorted[0]![1] < leads.who.length ? `Of ${count(leads.who.length, "setting")}, ` : "";
    ahead = all || start + listed([...found, ...(tied ? [`${tied} ${tied === 1 ? "is" : "are"} tied`] : [])]);
  }

  /** Fills a cell with a system's hue, hatched if other systems have the same hue. */
  function shade(
    context: CanvasRenderingContext2D,
    s: number,
    strength: number,
    ...[x, y, wide, high]: [number, number, number, number]
  ): void {
    context.fillStyle = looks.pale(looks.hue(s), strength);
    context.fillRect(x, y, wide, high);
    const turn = looks.turn(s);
    if (!turn) return;
    context.save();
    context.beginPath();
    context.rect(x, y, wide, high);
    context.clip();
    context.strokeStyle = looks.pale(looks.ink, 0.5);
    context.lineWidth = 1;
    context.beginPath();
    const gap = 7 * Math.ceil(turn / 2);
    const lean = turn % 2 ? high : -high;
    for (let at = x - high - ((x - high) % gap); at < x + wide + high; at += gap) line(context, at, y + high, lean, -high);
    context.stroke();
    context.restore();
  }
  const who = (row: number, column: number): number => leads.who[row * grid!.columns.length + column]!;

  /** The cell of the controls, if their value is that of a column. */
  function now(): { row: number; column: number; x: number } | null {
    const { state } = page;
    const row = grid!.rows.length === 1 ? 0 : grid!.rows.findIndex((each) => hasDiscount(each, state));
    const value = grid!.kind === "depth" ? state.depth : ratioOf(report, state);
    const columns = grid!.columns;
    if (row < 0 || value === null || value < columns[0]! || value > columns.at(-1)!) return null;
    let column = columns.length - 1;
    while (columns[column]! > value) column--;
    const next = columns[column + 1];
    const x = column + (next === undefined ? 0 : (value - columns[column]!) / (next - columns[column]!));
    return { row, column: Math.min(columns.length - 1, Math.round(x)), x };
  }

  const left = (): number => (width < 560 ? 52 : 170);
  const cellWidth = (): number => (width - left() - 8) / grid!.columns.length;

  function point(x: number, y: number): void {
    const column = Math.floor((x - left()) / cellWidth());
    const row = Math.floor((y - HEAD) / ROW);
    if (column < 0 || column >= grid!.columns.length || row < 0 || row >= grid!.rows.length) return follow();
    move(row, column);
  }
  function move(row: number, column: number): void {
    at = {
      row: Math.min(grid!.rows.length - 1, Math.max(0, row)),
      column: Math.min(grid!.columns.length - 1, Math.max(0, column)),
    };
    isPointed = true;
    describe();
    paint();
  }
  /** Returns to the cell of the controls. */
  function follow(): void {
    at = now() ?? at;
    isPointed = false;
    describe();
    paint();
  }
  function press(event: KeyboardEvent): void {
    const step = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Home: [0, -99],
      End: [0, 99],
    }[event.key];
    if (step) move(at.row + step[0]!, at.column + step[1]!);
    else if (event.key === "Enter" || event.key === " ") take();
    else return;
    event.preventDefault();
  }
  function take(): void {
    const row = grid!.rows[at.row]!;
    const column = grid!.columns[at.column]!;
    const discount = grid!.rows.length > 1 ? row : {};
    page.set({ ...discount, ...(grid!.kind === "depth" ? { depth: column } : { gains: gainsAt(report, column) }) });
  }

  function describe(): void {
    const { state, live } = page;
    if (!isPointed && !now()) {
      say(cellText, "The current setting is not on the map: no column has its gains.");
      return;
    }
    const isDepth = grid!.kind === "depth";
    const present = isDepth ? state.depth : ratioOf(report, state)!;
    const column = plain(isPointed ? grid!.columns[at.column]! : present);
    const which = isDepth ? `Depth ${column}` : `Highest grade worth ${column} times the lowest`;
    const of = (s: number): number => (isPointed ? mean(at.row, at.column, s) : live.means[s]!);
    const { best } = ranked(of);
    const who = best.length > 3 ? count(best.length, "system") : listed(best.map((s) => looks.name(s)));
    const pair = `${looks.name(state.system)} against ${looks.name(state.other)}`;
    const [lead, ahead] = [fixed(of(best[0]!)), signed(of(state.system) - of(state.other))];
    const verb = best.length > 1 ? "are best" : "is best";
    say(cellText, `${which}, ${label(grid!.rows[at.row]!)}: ${who} ${verb} with ${lead}; ${pair}: ${ahead}.`);
  }

  function paint(): void {
    const ratio = devicePixelRatio || 1;
    if (!width) measure();
    if (!width) return;
    const height = HEAD + grid!.rows.length * ROW + FOOT;
    const size = [Math.round(width * ratio), Math.round(height * ratio)] as const;
    if (canvas.width !== size[0] || canvas.height !== size[1]) {
      [canvas.width, canvas.height] = size;
      canvas.style.height = `${height}px`;
    }
    const picture = [key, page.state.depth, page.state.map, page.state.system, page.state.other, ...size, looks.ink].join("|");
    if (picture !== painted) {
      [base.width, base.height] = size;
      const below = base.getContext("2d")!;
      below.setTransform(ratio, 0, 0, ratio, 0, HEAD * ratio);
      paintCells(below);
      painted = picture;
    }
    const context = canvas.getContext("2d")!;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, ...size);
    context.drawImage(base, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, HEAD * ratio);
    paintMarks(context);
  }

  function paintCells(context: CanvasRenderingContext2D): void {
    const { rows, columns, kind } = grid!;
    const [x0, w] = [left(), cellWidth()];
    context.font = looks.font;
    for (const [r, c] of cells()) {
      if (who(r, c) < 0) continue;
      const [from, to] = [Math.round(x0 + c * w), Math.round(x0 + (c + 1) * w)];
      shade(context, who(r, c), leads.strength[r * columns.length + c]!, from, r * ROW, to - from, ROW);
    }
    context.strokeStyle = looks.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const [r, c] of cells()) {
      if (c + 1 < columns.length && who(r, c) !== who(r, c + 1))
        line(context, Math.round(x0 + (c + 1) * w), r * ROW, 0, ROW);
      if (r + 1 < rows.length && who(r, c) !== who(r + 1, c)) line(context, x0 + c * w, (r + 1) * ROW, w, 0);
    }
    context.stroke();
    context.strokeStyle = looks.rule;
    context.strokeRect(x0, 0, w * columns.length, rows.length * ROW);
    context.fillStyle = looks.soft;
    context.textBaseline = "middle";
    context.textAlign = "right";
    rows.forEach((row, r) => {
      const text = x0 < 120 ? kept(row) : `${label(row).replace(/ for ranks.*/, "")}: ${kept(row)}`;
      context.fillText(text, x0 - 8, r * ROW + ROW / 2, x0 - 10);
    });
    context.textAlign = "left";
    const heading = x0 < 120 ? "Share" : "Discount at rank j: share";
    context.fillText(`${heading} of gain kept at rank ${page.state.depth}`, 0, -HEAD / 2, width);
    context.textAlign = "center";
    let free = -Infinity;
    columns.forEach((column, c) => {
      const text = kind === "depth" ? String(column) : `${column}×`;
      const middle = x0 + (c + 0.5) * w;
      const half = context.measureText(text).width / 2 + 4;
      if ((kind === "ratio" && !TICKS.includes(column)) || middle - half < free) return;
      context.fillText(text, middle, rows.length * ROW + 12);
      free = middle + half;
    });
    const worth = width < 560 ? "gain of the highest grade (× lowest)" : "documents of the lowest grade that count as much as one of the highest";
    const about = kind === "depth" ? "documents that users read (depth k)" : worth;
    context.fillText(about, x0 + (w * columns.length) / 2, rows.length * ROW + 31, w * columns.length);
  }

  /** The current setting, and the cell under the pointer. */
  function paintMarks(context: CanvasRenderingContext2D): void {
    const [x0, w] = [left(), cellWidth()];
    const here = now();
    if (here) {
      context.fillStyle = looks.ink;
      context.strokeStyle = looks.ground;
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x0 + (here.x + 0.5) * w, here.row * ROW + ROW / 2, 5, 0, 7);
      context.fill();
      context.stroke();
    }
    if (here ? document.activeElement === canvas || canvas.matches(":hover") : isPointed) {
      context.strokeStyle = looks.ink;
      context.lineWidth = 2;
      context.strokeRect(x0 + at.column * w + 1, at.row * ROW + 1, w - 2, ROW - 2);
    }
  }

  function draw(): void {
    const { state } = page;
    const wanted = mapKey(report, state);
    clearTimeout(waiting);
    if (wanted !== key && grid && isLarge) waiting = setTimeout(() => compute(wanted), REST) as unknown as number;
    else if (wanted !== key) compute(wanted);
    if (grid) drawCells();
  }

  /** Large maps are redrawn only when the controls rest. */
  function compute(wanted: string): void {
    grid = sensitivity(report, page.state);
    orders = [...cells()].map(([r, c]) => ranked((s) => mean(r, c, s)));
    key = wanted;
    at = { row: Math.min(at.row, grid.rows.length - 1), column: Math.min(at.column, grid.columns.length - 1) };
    drawCells();
  }

  function drawCells(): void {
    const { state } = page;
    modes.forEach((input) => (input.checked = input.value === state.map));
    const compared = [key, state.map, state.system, state.other, looks.ink].join("|");
    if (compared !== ledBy) lead();
    ledBy = compared;
    const present = ranked((s) => page.live.means[s]!).order;
    const same = orders.filter(({ order }) => order === present).length;
    const among = same === orders.length ? `all ${same}` : `${same} of ${orders.length}`;
    const order = report.systems.length > 2 ? ` All systems are in the current order in ${among}.` : "";
    say(words, `${ahead}.${order}`);
    follow();
  }
  canvas.addEventListener("focus", () => grid && paint());
  canvas.addEventListener("blur", () => grid && follow());
  return { node, draw };
}

function line(context: CanvasRenderingContext2D, x: number, y: number, dx: number, dy: number): void {
  context.moveTo(x, y);
  context.lineTo(x + dx, y + dy);
}
