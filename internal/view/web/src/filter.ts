import type { Trace } from "./trace.ts";

/** The filter of a trace. All of it is in the address, so that a view can be shared. */
export interface Filter {
  q: string; // a text
  volume: string; node: string; object: string; call: string; lane: string;
  failures: boolean;
  all: boolean; // also frequent events that repeat others
}
export const everything: Filter = { q: "", volume: "", node: "", object: "", call: "", lane: "", failures: false, all: false };

export function isFiltered(f: Filter): boolean { return !!(f.q || f.volume || f.node || f.object || f.call || f.lane || f.failures); }

export function objectName(o: [string, string]): string { return o[0] + "/" + o[1].replace(/^default\//, ""); }

/** The events that match a filter. found contains the events with the text; it is undefined
 * before the search. */
export function fitting(trace: Trace, f: Filter, found?: Uint8Array): Uint8Array {
  const shown = new Uint8Array(trace.length);
  const volume = f.volume ? trace.volumes.findIndex((v) => v && v.label === f.volume) : -1;
  const node = f.node ? trace.strings.indexOf(f.node) : -1;
  const object = f.object ? trace.objects.findIndex((o) => objectName(o) === f.object) : -1;
  const lane = f.lane ? trace.lanes.indexOf(f.lane) : -1;
  for (let i = 0; i < trace.length; i++) {
    if (!trace.kind[i]) continue;
    if (!f.all && trace.isQuiet(i) && !found?.[i] && !(object >= 0 && trace.object[i] === object)) continue;
    if (f.volume && trace.volume[i] !== volume && !isLandmark(trace, i)) continue;
    if (f.node && trace.node[i] !== node && !isLandmark(trace, i)) continue;
    if (f.object && trace.object[i] !== object) continue;
    if (f.lane && trace.lane[i] !== lane) continue;
    if (f.call && !(trace.isKind(i, "csi") && trace.methodOf(i) === f.call)) continue;
    if (f.failures && !trace.failed(i) && trace.toneOf(i) !== "wait") continue;
    if (f.q && !found?.[i]) continue;
    shown[i] = 1;
  }
  return shown;
}

/** Steps and faults are shown with every filter. */
function isLandmark(trace: Trace, row: number): boolean { return trace.isKind(row, "step") || trace.isKind(row, "fault"); }

/** Finds the events that contain a text, regardless of case, from a chunk on. If a server reads
 * the trace, it searches all of it again. */
export async function search(trace: Trace, text: string, from: number, stop: AbortSignal, found: (row: number) => void): Promise<void> {
  if (trace.searched) return trace.searched(text, stop, found);
  const wanted = text.toLowerCase();
  for (let c = from; c < trace.chunkCount && !stop.aborted; c++) {
    const first = trace.firstOf(c);
    (await trace.unpacked(c)).forEach((d, i) => {
      if ((d.text + "\n" + d.outcome + "\n" + d.raw).toLowerCase().includes(wanted)) found(first + i);
    });
  }
}
