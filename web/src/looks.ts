// Appearance of systems: a hue per name, the same in every figure of gainful, and a stroke that works without colour.
import { shortNames } from "./dom.ts";

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#332288"];
/** The same hues, some lighter for dark pages. */
const DARK = ["#4AA8E0", "#F5803E", "#2CC59B", "#E39AC5", "#F0B429", "#8FD0F7", "#D96B96", "#A196F2"];
const DASHES = [[], [5, 1.6], [2, 1.2], [6, 1.4, 1.2, 1.4], [9, 1.8], [1, 1.1], [5, 1.2, 1, 1.2, 1, 1.2], [3, 3]];

function crc32(text: string): number {
  let crc = ~0;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

/** A number for each name; modulo `count` it is the hue, stable where possible. */
export function hues(names: string[], count = LIGHT.length): Map<string, number> {
  const wanted = [...new Set(names)].sort((a, b) => (a < b ? -1 : 1));
  const found = new Map<string, number>();
  for (let start = 0; start < wanted.length; start += count) {
    const free = new Set(Array(count).keys());
    for (const name of wanted.slice(start, start + count)) {
      let hue = crc32(name) % count;
      while (!free.has(hue)) hue = (hue + 1) % count;
      free.delete(hue);
      found.set(name, start + hue);
    }
  }
  return found;
}

/** The colours of the page, from its style sheet, and of systems. */
export class Looks {
  ink = "";
  soft = "";
  rule = "";
  ground = "";
  font = "";
  private isDark = false;
  private readonly numbers: number[];
  private readonly short = new Map<number, string[]>();

  constructor(private readonly names: string[]) {
    const found = hues(names);
    this.numbers = names.map((name) => found.get(name)!);
    this.read();
  }

  /** Reads the colours of the style sheet, which follow the reader's colour scheme. */
  read(): void {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string): string => style.getPropertyValue(name).trim();
    [this.ink, this.soft, this.rule, this.ground] = [of("--ink"), of("--soft"), of("--rule"), of("--ground")];
    this.isDark = of("--dark") === "1";
    this.font = `12px ${of("--font")}`;
    this.numbers.forEach((number, s) => {
      document.documentElement.style.setProperty(`--hue-${s}`, this.palette[number % LIGHT.length]!);
    });
  }

  /** A system's name shortened to about `most` letters, but still unique. */
  name(s: number, most = 32): string {
    if (!this.short.has(most)) this.short.set(most, shortNames(this.names, most));
    return this.short.get(most)![s]!;
  }

  /** The number of earlier systems with the same hue. */
  turn(s: number): number {
    return Math.floor(this.numbers[s]! / LIGHT.length);
  }

  private get palette(): string[] {
    return this.isDark ? DARK : LIGHT;
  }

  hue(s: number): string {
    return this.palette[this.numbers[s]! % LIGHT.length]!;
  }

  /** Strokes and gaps in pixels for a line width. */
  dash(s: number, width: number): number[] {
    const many = this.numbers.length > LIGHT.length;
    const which = many ? ((this.numbers[s]! % LIGHT.length) + this.turn(s)) % DASHES.length : s;
    return DASHES[which]!.map((part) => part * width);
  }

  /** A translucent colour. */
  pale(colour: string, strength: number): string {
    return `${colour}${Math.round(strength * 255)
      .toString(16)
      .padStart(2, "0")}`;
  }
}
