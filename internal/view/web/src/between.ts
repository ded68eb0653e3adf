import type { Trace } from "./trace.ts";

/** The reason why a process waits, since a time in ms. */
export interface Wait { process: string; reason: string; since: number }

/** A cache that is out of date: the rows of the changes that it has not seen. */
export interface Lag { component: string; changes: number[]; relisted?: boolean; gone?: boolean }

/** The last event of the instant of an event: the state of an instant is the state at its end. */
export function endOf(trace: Trace, row: number): number {
  let end = row;
  while (end + 1 < trace.length && trace.at[end + 1] === trace.at[row]) end++;
  return end;
}

/** The wait of each process at the end of an instant, the newest first; undefined if the trace
 * has no waits. */
export async function waitsAt(trace: Trace, row: number): Promise<Wait[] | undefined> {
  const end = endOf(trace, row), last = lastChunk(trace, end);
  const first = trace.waitsFrom(last);
  if (first < 0) return undefined;
  const now = new Map<string, Wait>();
  for (let c = first; c <= last; c++) for (const { after, line, known } of await trace.states(c)) {
    if (after > end + 1) break;
    for (const [process, [reason, since]] of Object.entries(known ?? {})) now.set(process, { process, reason, since });
    if (line?.k !== "wait") continue;
    for (const [reason, processes] of Object.entries(line.obj as Record<string, string[]>)) for (const process of processes) {
      now.delete(process);
      if (reason) now.set(process, { process, reason, since: line.t });
    }
  }
  return [...now.values()].sort((a, b) => b.since - a.since || (a.process < b.process ? -1 : 1));
}

/** A state after the last event of a chunk is in the next chunk. */
function lastChunk(trace: Trace, row: number): number { return row + 1 < trace.length ? trace.chunkOf(row + 1) : trace.chunkCount - 1; }

/** The caches that lag at an event: they have not seen changes that have already happened. They
 * catch up before the clock advances. */
export async function lagsAt(trace: Trace, row: number): Promise<Lag[]> {
  const found = new Map<string, Lag>(), end = endOf(trace, row);
  for (let c = trace.chunkOf(row); c <= lastChunk(trace, end); c++) for (const { after, line } of await trace.states(c)) {
    if (after <= row || line?.k !== "cache") continue;
    if (after > end + 1) break;
    const lesson = line.obj as { changes: number[]; relisted?: boolean; gone?: boolean };
    const changes = lesson.changes.filter((seq) => seq <= trace.seq[row]).map((seq) => trace.row(seq));
    if (!changes.length) continue;
    const lag = found.get(line.from!) ?? { component: line.from!, changes: [] };
    found.set(line.from!, { ...lag, changes: [...lag.changes, ...changes], relisted: lag.relisted || lesson.relisted, gone: lag.gone || lesson.gone });
  }
  return [...found.values()];
}
