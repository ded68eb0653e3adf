import type { Trace } from "./trace.ts";

/** How many places a pause has at most. */
export const widestPause = 6;

/** Where the events stand side by side. In virtual time many happen at one instant: each shown event gets a place of its
 * own, in their order, and a pause gets more the longer it is, but far less than its share. */
export class Axis {
  place: Float64Array; // of every event; those that are not shown stand where the last shown one does
  width: number;
  pauses: { from: number; to: number; ms: number }[] = [];

  constructor(private readonly trace: Trace, shown: Uint8Array) {
    this.place = new Float64Array(trace.length);
    let at = 0, last = -1;
    for (let i = 0; i < trace.length; i++) {
      if (shown[i]) {
        if (last >= 0) {
          const gap = trace.at[i] - trace.at[last];
          const more = gap <= 0 ? 0 : Math.min(widestPause, Math.log10(1 + gap / 10));
          if (gap >= 1000) this.pauses.push({ from: at + 0.5, to: at + 0.5 + more, ms: gap });
          at += 1 + more;
        }
        last = i;
      }
      this.place[i] = at;
    }
    this.width = at + 1;
  }

  /** This axis with some places moved on: what stands at from[i] stands at to[i], and what follows it comes right after it. */
  moved(from: number[], to: number[]): Axis {
    const move = (place: number) => {
      let low = 0, high = from.length;
      while (low < high) { const middle = (low + high) >> 1; if (from[middle] <= place) low = middle + 1; else high = middle; }
      return low ? place - from[low - 1] + to[low - 1] : place;
    };
    const axis: Axis = Object.create(this);
    axis.place = this.place.map(move);
    axis.width = move(this.width);
    axis.pauses = this.pauses.map((p) => ({ from: move(p.from), to: move(p.from) + p.to - p.from, ms: p.ms }));
    return axis;
  }

  /** The pauses that lie between two places, at least in part. */
  pausesIn(from: number, to: number): Axis["pauses"] {
    let low = 0, high = this.pauses.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pauses[middle].to < from) low = middle + 1; else high = middle;
    }
    let end = low;
    while (end < this.pauses.length && this.pauses[end].from <= to) end++;
    return this.pauses.slice(low, end);
  }

  /** The first event at or after a place. */
  firstAfter(place: number): number {
    let low = 0, high = this.trace.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.place[middle] < place) low = middle + 1; else high = middle;
    }
    return low;
  }
}
