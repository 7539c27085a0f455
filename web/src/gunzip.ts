// gzip, unpacked at once (RFC 1951 and 1952): who prints a page as soon as it is loaded waits for no stream.

/** By the bits that come next, as many as the longest code has: a symbol, and in the lowest 4 bits its code's length. */
type Codes = Uint16Array;

const LENGTH_BITS = [...Array(28).keys()].map((i) => (i < 8 ? 0 : (i >> 2) - 1));
const DISTANCE_BITS = [...Array(30).keys()].map((i) => (i < 4 ? 0 : (i >> 1) - 1));
/** The places in which the lengths of the codes of lengths come. */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Where each range of values begins, each as wide as its bits can tell. */
const starts = (first: number, bits: number[]): number[] =>
  bits.map((_, i) => first + bits.slice(0, i).reduce((sum, each) => sum + 2 ** each, 0));

const LENGTHS = [...starts(3, LENGTH_BITS), 258];
LENGTH_BITS.push(0);
const DISTANCES = starts(1, DISTANCE_BITS);

function codesOf(lengths: number[]): Codes {
  const most = Math.max(1, ...lengths);
  const found = new Uint16Array(1 << most);
  let code = 0;
  for (let length = 1; length <= most; length++, code <<= 1) {
    lengths.forEach((each, symbol) => {
      if (each !== length) return;
      let start = 0; // codes begin with their highest bit
      for (let bit = 0; bit < length; bit++) start |= ((code >> bit) & 1) << (length - 1 - bit);
      for (let at = start; at < found.length; at += 1 << length) found[at] = (symbol << 4) | length;
      code++;
    });
  }
  return found;
}

export function gunzip(data: Uint8Array): ArrayBuffer {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const found = new Uint8Array(view.getUint32(data.length - 4, true));
  let [at, to, bits, held] = [10, 0, 0, 0];
  const fill = (count: number): void => {
    for (; held < count; held += 8) bits |= data[at++]! << held;
  };
  const take = (count: number): number => {
    fill(count);
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    held -= count;
    return value;
  };
  const symbol = (codes: Codes): number => {
    fill(15);
    const entry = codes[bits & (codes.length - 1)]!;
    bits >>>= entry & 15;
    held -= entry & 15;
    return entry >> 4;
  };
  const read = (): [Codes, Codes] => {
    const [literals, distances, own] = [take(5) + 257, take(5) + 1, take(4) + 4];
    const lengths: number[] = Array(19).fill(0);
    for (const place of ORDER.slice(0, own)) lengths[place] = take(3);
    const codes = codesOf(lengths);
    const all: number[] = [];
    while (all.length < literals + distances) {
      const length = symbol(codes);
      if (length < 16) all.push(length);
      else {
        const count = length === 16 ? 3 + take(2) : length === 17 ? 3 + take(3) : 11 + take(7);
        all.push(...Array(count).fill(length === 16 ? all.at(-1)! : 0));
      }
    }
    return [codesOf(all.slice(0, literals)), codesOf(all.slice(literals))];
  };
  for (let isLast = 0; !isLast;) {
    isLast = take(1);
    const kind = take(2);
    if (kind === 0) {
      at -= held >> 3;
      [bits, held] = [0, 0];
      const size = view.getUint16(at, true);
      found.set(data.subarray(at + 4, at + 4 + size), to);
      [at, to] = [at + 4 + size, to + size];
      continue;
    }
    const fixed = (i: number): number => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    const [literals, distances] =
      kind === 1 ? [codesOf([...Array(288).keys()].map(fixed)), codesOf(Array(30).fill(5))] : read();
    // Nearly all time goes here: variables that functions do not share are faster.
    let [b, h, a] = [bits, held, at];
    for (;;) {
      for (; h < 15; h += 8) b |= data[a++]! << h;
      const entry = literals[b & (literals.length - 1)]!;
      b >>>= entry & 15;
      h -= entry & 15;
      const next = entry >> 4;
      if (next < 256) {
        found[to++] = next;
        continue;
      }
      [bits, held, at] = [b, h, a];
      if (next === 256) break;
      const end = to + LENGTHS[next - 257]! + take(LENGTH_BITS[next - 257]!);
      const distance = symbol(distances);
      for (let from = to - DISTANCES[distance]! - take(DISTANCE_BITS[distance]!); to < end;) found[to++] = found[from++]!;
      if (to > found.length) break;
      [b, h, a] = [bits, held, at];
    }
    if (to > found.length || at > data.length) break;
  }
  if (to !== found.length) throw new Error("its data are damaged");
  return found.buffer;
}
