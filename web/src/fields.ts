// Input fields shared by the report and the playground.
import { h, plain } from "./dom.ts";

/** A slider with a text box for the same value; invalid text is marked until the value changes. */
export function slider<T extends number | "e">(
  label: string,
  [low, high, step]: [number, number, number],
  read: (text: string) => T | null,
  set: (value: T) => void,
  title?: string,
) {
  const range = h("input", {
    type: "range",
    min: low,
    max: high,
    step,
    "aria-label": `${label}, slider`,
    oninput: () => set(Number(range.value) as T),
  });
  const box = h("input", {
    type: "text",
    "aria-label": label,
    inputmode: "decimal",
    onchange: () => {
      const found = read(box.value);
      if (found === null) box.setAttribute("aria-invalid", "true");
      else set(found);
    },
  });
  const draw = (value: T, isUsed = true, top = high): void => {
    box.disabled = range.disabled = !isUsed;
    box.removeAttribute("aria-invalid");
    if (document.activeElement !== box || read(box.value) !== value)
      box.value = value === "e" ? value : plain(value as number);
    const number = value === "e" ? Math.E : (value as number);
    range.max = String(top);
    range.value = String(number);
    const at = Math.min(1, Math.max(0, (number - low) / (top - low || 1)));
    range.style.setProperty("--at", `${(100 * at).toFixed(1)}%`);
  };
  return { node: h("div", { class: "slider", title }, h("span", { class: "label" }, label), range, box), draw };
}

/** Read a number of at least `low`; null if the text is not one. */
export const readNumber =
  (low: number) =>
  (text: string): number | null =>
    text.trim() && Number.isFinite(Number(text)) && Number(text) >= low ? Number(text) : null;
