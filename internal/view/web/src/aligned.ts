import { Axis } from "./axis.ts";
import type { Trace } from "./trace.ts";

/** Axes that put the events of both traces at the same places. pairs are the rows of these
 * events, as csisim diff aligned them. */
export function together(a: Trace, shownA: Uint8Array, b: Trace, shownB: Uint8Array, pairs: [number, number][]): [Axis, Axis] {
  const [own, other] = [new Axis(a, shownA), new Axis(b, shownB)];
  const anchors = inOrder(pairs.filter(([x, y]) => shownA[x] && shownB[y]));
  const starts: number[] = [];
  let at = 0, before: [number, number] = [0, 0];
  for (const [x, y] of anchors) {
    const here: [number, number] = [own.place[x], other.place[y]];
    at += Math.max(here[0] - before[0], here[1] - before[1]);
    starts.push(at);
    before = here;
  }
  return [own.moved(anchors.map(([x]) => own.place[x]), starts), other.moved(anchors.map(([, y]) => other.place[y]), starts)];
}

/** The longest list of pairs in the order of both traces, since lines between crossing pairs
 * could not all be vertical. */
function inOrder(pairs: [number, number][]): [number, number][] {
  const sorted = [...pairs].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  // The last pair of the best list of each length.
  const ends: number[] = [], before = new Array<number>(sorted.length).fill(-1);
  sorted.forEach(([, y], i) => {
    let low = 0, high = ends.length;
    while (low < high) { const middle = (low + high) >> 1; if (sorted[ends[middle]][1] < y) low = middle + 1; else high = middle; }
    before[i] = low ? ends[low - 1] : -1;
    ends[low] = i;
  });
  const found: [number, number][] = [];
  for (let i = ends.length ? ends[ends.length - 1] : -1; i >= 0; i = before[i]) found.unshift(sorted[i]);
  return found;
}
