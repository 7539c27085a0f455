// Both rankings, in which documents are dragged, or moved and graded with the keyboard, and the selected document's toolbar.
import { button, h, put, say, svg } from "../dom.ts";
import { gradeChip, swatch } from "../page.ts";
import { LISTS, type Playground } from "./page.ts";
import { type Grade, graded, LETTERS, missed, type Patch, placed, type Side, SIDES } from "./state.ts";

const gradeWord = (grade: Grade): string => (grade === null ? "unjudged" : `grade ${grade}`);
const NAMES_OF_KEYS: Record<string, string> = { ArrowUp: "up", ArrowDown: "down", Home: "first", End: "last" };
/** Shorter movements of the pointer, in pixels, count as clicks. */
const CLICK = 4;

interface Row {
  node: HTMLLIElement;
  control: HTMLButtonElement;
  rank: HTMLElement;
  chip: HTMLElement;
  bar: HTMLElement;
}

export function rankings(page: Playground): {
  node: HTMLElement;
  draw: () => void;
  focus: (side: Side, id: string) => void;
} {
  const rows = SIDES.map(() => new Map<string, Row>());
  const dividers = SIDES.map(() => h("li", { class: "divider" }, h("span", {}, "Not retrieved")));
  const boxes = SIDES.map((side) =>
    h("ol", {
      class: "docs",
      "aria-label": `${LISTS[side]}, best first`,
      onkeydown: (event: KeyboardEvent) => pressed(event, side),
    }),
  );
  const links = svg("svg", { class: "links", "aria-hidden": "true", preserveAspectRatio: "none" });
  const bar = toolbar(page, act, focus);
  const columns = SIDES.map((side) =>
    h(
      "div",
      { class: "ranking" },
      h(
        "div",
        { class: "head" },
        h("h3", {}, h("span", { class: "system" }, swatch(page, side), LISTS[side])),
        order(side),
      ),
      boxes[side],
    ),
  );
  const node = h(
    "section",
    { class: "rankings", "aria-labelledby": "lists-title" },
    h("h2", { id: "lists-title", class: "hidden" }, "Rankings"),
    h("div", { class: "lists" }, columns[0], h("div", { class: "moves" }, links), columns[1]),
    bar.node,
    bar.add,
  );
  let dragged: Element | null = null;

  function rowOf(side: Side, id: string): Row {
    const known = rows[side]!.get(id);
    if (known) return known;
    const [rank, chip, adds] = [
      h("span", { class: "rank" }),
      h("span", { class: "chip" }),
      h("span", { class: "adds" }),
    ];
    const control = h(
      "button",
      {
        type: "button",
        class: "doc",
        "aria-describedby": "keys",
        onpointerdown: (event: PointerEvent) => grab(event, side, id),
        onfocus: () => page.select(side, id),
        onclick: () => control.focus(), // some browsers do not focus a clicked button
      },
      h("span", { class: "grip", "aria-hidden": "true" }),
      rank,
      h("b", {}, id),
      adds,
      chip,
    );
    const made = { node: h("li", {}, control), control, rank, chip, bar: adds };
    rows[side]!.set(id, made);
    return made;
  }

  function focus(side: Side, id: string): void {
    page.now();
    rows[side]!.get(id)?.control.focus();
  }

  /** Carry out a key's or button's action; documents that were not retrieved have place null. */
  function act(side: Side, id: string, what: string): void {
    const list = page.state.lists[side];
    const last = list.length - 1;
    const now = list.includes(id) ? list.indexOf(id) : null;
    const places: Record<string, number | null> = {
      up: now === null ? last + 1 : Math.max(0, now - 1),
      down: now === null || now === last ? null : now + 1,
      first: 0,
      last: now === null ? last + 1 : last,
      remove: null,
    };
    const place = places[what]!;
    if (place !== now) page.set(placed(page.state, side, id, place), moved(side, id, place));
  }

  const moved = (side: Side, id: string, place: number | null): string =>
    place === null ? `${id} is not retrieved by ${LISTS[side]}.` : `${id} is at rank ${place + 1} of ${LISTS[side]}.`;

  function pressed(event: KeyboardEvent, side: Side): void {
    const row = (event.target as Element).closest("li");
    const id = [...rows[side]!].find(([, each]) => each.node === row)?.[0];
    if (!id || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key in NAMES_OF_KEYS) act(side, id, NAMES_OF_KEYS[key]!);
    else if (key === "Delete" || key === "Backspace") act(side, id, "remove");
    else if (key === "ArrowLeft" || key === "ArrowRight") focus(key === "ArrowLeft" ? 0 : 1, id);
    else if (/^[0-9]$/.test(key)) regrade(page, id, Number(key));
    else if (key === "-") regrade(page, id, null);
    else return;
    event.preventDefault();
  }

  /** Let a document follow the pointer, and update the list as soon as it is over another place. */
  function grab(event: PointerEvent, side: Side, id: string): void {
    if (event.button || (event.pointerType !== "mouse" && !(event.target as Element).closest(".grip"))) return;
    const { node: row } = rowOf(side, id);
    const box = boxes[side]!;
    const offset = event.clientY - row.getBoundingClientRect().top;
    const before: Patch = { lists: page.state.lists };
    const follow = (move: PointerEvent): void => {
      if (!dragged && Math.abs(move.clientY - event.clientY) < CLICK) return;
      dragged = row;
      row.classList.add("dragged");
      const top = move.clientY - offset - box.getBoundingClientRect().top;
      const list = page.state.lists[side].filter((each) => each !== id);
      const slot = Math.min(Math.max(0, Math.round(top / row.offsetHeight)), box.children.length - 1);
      const place = slot <= list.length ? slot : null;
      const now = page.state.lists[side].indexOf(id);
      if (now !== (place ?? -1)) {
        page.set(placed(page.state, side, id, place));
        page.now();
      }
      row.style.transform = `translateY(${top - row.offsetTop}px)`;
    };
    const stop = (end: Event): void => {
      for (const [name, listener] of Object.entries(listeners)) removeEventListener(name, listener as EventListener);
      if (!dragged) return;
      dragged = null;
      row.classList.remove("dragged");
      row.style.transform = "";
      const now = page.state.lists[side].indexOf(id);
      if (end.type === "pointerup") page.set({}, moved(side, id, now < 0 ? null : now));
      else page.set(before, "Put back.");
    };
    const escape = (key: KeyboardEvent): void => void (key.key === "Escape" && stop(key));
    const listeners = { pointermove: follow, pointerup: stop, pointercancel: stop, keydown: escape };
    for (const [name, listener] of Object.entries(listeners)) addEventListener(name, listener as EventListener);
  }

  /** A menu that reorders a whole list. */
  function order(side: Side): HTMLElement {
    const worth = (id: string): number => page.state.grades.get(id) ?? -1;
    const orders: Record<string, (list: string[]) => string[]> = {
      "best first": (list) => list.sort((one, other) => worth(other) - worth(one)),
      "worst first": (list) => list.sort((one, other) => worth(one) - worth(other)),
      shuffled: (list) =>
        list
          .map((id) => [Math.random(), id] as const)
          .sort(([a], [b]) => a - b)
          .map(([, id]) => id),
      [`like ${LISTS[1 - side]!}`]: () => [...page.state.lists[1 - side]!],
    };
    const select = h(
      "select",
      {
        "aria-label": `Reorder ${LISTS[side]}`,
        onchange: () => {
          const list = orders[select.value]!([...page.state.lists[side]]);
          page.set(
            { lists: side ? [page.state.lists[0], list] : [list, page.state.lists[1]] },
            `${LISTS[side]} reordered.`,
          );
          select.value = "";
        },
      },
      h("option", { value: "" }, "Order…"),
      Object.keys(orders).map((text) => h("option", { value: text }, text)),
    );
    return select;
  }

  /** Reorder rows around the one in use: moving that one would lose the focus and the pointer. */
  function arrange(box: HTMLElement, wanted: HTMLElement[]): void {
    if (wanted.length === box.children.length && wanted.every((each, i) => each === box.children[i])) return;
    const tops = new Map([...box.children].map((each) => [each, (each as HTMLElement).offsetTop]));
    const held =
      dragged?.parentElement === box ? dragged : wanted.find((each) => each.contains(document.activeElement));
    for (const each of [...box.children]) if (!wanted.includes(each as HTMLElement)) each.remove();
    let isAfter = false;
    for (const each of wanted) {
      if (each === held) isAfter = true;
      else if (isAfter || !held) box.append(each);
      else box.insertBefore(each, held);
    }
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    for (const each of wanted) {
      const by = (tops.get(each) ?? each.offsetTop) - each.offsetTop;
      if (by && each !== dragged)
        each.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], {
          duration: 160,
          easing: "ease-out",
        });
    }
  }

  function draw(): void {
    const { state, scores, selected } = page;
    const levels = Array.from({ length: state.scale + 1 }, (_, grade) => grade);
    const worked = scores.worked[state.measure];
    const most = Math.max(1e-12, ...worked.flatMap(({ adds }) => adds));
    for (const side of SIDES) {
      const list = state.lists[side];
      for (const id of [...rows[side]!.keys()]) if (!state.grades.has(id)) rows[side]!.delete(id);
      for (const id of state.grades.keys()) {
        const { node: row, control, rank, chip, bar } = rowOf(side, id);
        const place = list.indexOf(id);
        const grade = state.grades.get(id)!;
        say(rank, place < 0 ? "" : String(place + 1));
        put(chip, gradeChip(levels, grade === null ? 1 : grade + 2));
        const isCounted = place >= 0 && (state.k === null || place < state.k);
        bar.style.setProperty("--w", `${isCounted ? (100 * worked[side].adds[place]!) / most : 0}%`);
        bar.style.setProperty("--hue", `var(--hue-${side})`);
        control.setAttribute(
          "aria-label",
          `Document ${id}, ${gradeWord(grade)}, ${place < 0 ? "not retrieved" : `rank ${place + 1}`}`,
        );
        row.classList.toggle("missed", place < 0);
        row.classList.toggle("cut", place + 1 === state.k && place + 1 < list.length);
        row.classList.toggle("is-selected", selected?.id === id);
        row.classList.toggle("is-held", selected?.id === id && selected.side === side);
      }
      const ids = [...list, ...missed(state, side)];
      const nodes: HTMLElement[] = ids.map((id) => rowOf(side, id).node);
      nodes.splice(list.length, 0, dividers[side]!);
      arrange(boxes[side]!, nodes);
    }
    drawLinks();
    bar.draw();
  }

  /** Draw a line from every document to its place in the other list. */
  function drawLinks(): void {
    const { state, selected } = page;
    const height = rows[0]!.values().next().value?.node.offsetHeight || 34;
    const total = (state.grades.size + 1) * height;
    links.setAttribute("viewBox", `0 0 40 ${total}`);
    links.setAttribute("height", String(total));
    const found = state.lists[0].flatMap((id, place) => {
      const there = state.lists[1].indexOf(id);
      if (there < 0) return [];
      const [from, to] = [(place + 0.5) * height, (there + 0.5) * height];
      const kind = selected?.id === id ? "is-selected" : (state.grades.get(id) ?? 0) > 0 ? "gains" : "";
      return svg("path", { d: `M0 ${from}C20 ${from} 20 ${to} 40 ${to}`, class: kind });
    });
    put(links, found);
  }
  return { node, draw, focus };
}

function regrade(page: Playground, id: string, grade: Grade): void {
  const raised = (grade ?? 0) > page.state.scale ? ` The top grade is now ${grade}.` : "";
  page.set(graded(page.state, id, grade), `${id} is ${gradeWord(grade)}.${raised}`);
}

/** Buttons for the selected document, and one that adds a document. */
function toolbar(
  page: Playground,
  act: (side: Side, id: string, what: string) => void,
  focus: (side: Side, id: string) => void,
): { node: HTMLElement; add: HTMLElement; draw: () => void } {
  const title = h("span", { class: "which" });
  const grades = h("span", { class: "grades", role: "group", "aria-label": "Grade" });
  const on = (what: string) => () => page.selected && act(page.selected.side, page.selected.id, what);
  const up = button("↑", on("up"), { "aria-label": "Move up" });
  const down = button("↓", on("down"), { "aria-label": "Move down" });
  const erase = button("Delete", () => {
    const { id } = page.selected!;
    const kept = new Map(page.state.grades);
    kept.delete(id);
    const [one, two] = page.state.lists.map((list) => list.filter((each) => each !== id));
    page.select(0, null);
    page.set({ grades: kept, lists: [one!, two!] }, `${id} is deleted.`);
    add.focus();
  });
  const add = button("Add a document", () => {
    const { state } = page;
    const id = [...LETTERS].find((letter) => !state.grades.has(letter))!;
    page.set(
      {
        grades: new Map(state.grades).set(id, 1),
        lists: [
          [...state.lists[0], id],
          [...state.lists[1], id],
        ],
      },
      `${id} is added.`,
    );
    focus(page.selected?.side ?? 0, id);
  });
  const own = h(
    "div",
    { class: "own", role: "toolbar", "aria-label": "Selected document" },
    title,
    grades,
    up,
    down,
    erase,
  );
  const hint = h(
    "p",
    { class: "note hint", id: "keys" },
    "Drag a document, or select it: ",
    h("kbd", {}, "↑"),
    h("kbd", {}, "↓"),
    " move it, digits grade it, ",
    h("kbd", {}, "-"),
    " makes it unjudged. The bars show each rank's contribution.",
  );
  const node = h("div", { class: "dock" }, hint, own);
  let drawn = "";

  function draw(): void {
    const { state, selected } = page;
    const grade = selected ? state.grades.get(selected.id) : undefined;
    own.hidden = grade === undefined;
    hint.hidden = !own.hidden;
    add.disabled = state.grades.size >= LETTERS.length;
    if (!selected || grade === undefined) return;
    const list = state.lists[selected.side];
    const place = list.indexOf(selected.id);
    put(title, h("b", {}, selected.id), h("span", {}, ` in ${LISTS[selected.side]}`));
    up.disabled = place === 0;
    down.disabled = place < 0;
    // Keep the buttons unless the scale changes, so that they keep the focus.
    if (drawn !== String(state.scale)) {
      const all: Grade[] = [null, ...Array.from({ length: state.scale + 1 }, (_, each) => each)];
      const one = (each: Grade): HTMLElement =>
        button(each ?? "–", () => regrade(page, page.selected!.id, each), { "aria-label": gradeWord(each) });
      put(grades, all.map(one));
    }
    drawn = String(state.scale);
    [...grades.children].forEach((each, i) =>
      each.setAttribute("aria-pressed", String(i === (grade === null ? 0 : grade + 1))),
    );
  }
  return { node, add, draw };
}
