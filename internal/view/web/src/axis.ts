import type { Trace } from "./trace.ts";

/** The largest number of places of a pause. */
export const widestPause = 6;

/** The positions of events side by side. In virtual time many events happen at one instant, so
 * each shown event gets its own place, in order. A long pause gets more places than a short one,
 * but far fewer than in proportion. */
export class Axis {
  place: Float64Array; // of every event; hidden ones are at the place of the last shown one
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

  /** This axis with some places moved from from[i] to to[i]; the places after them follow
   * directly. */
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

  /** The pauses between two places, at least in part. */
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
