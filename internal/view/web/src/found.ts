import { useEffect, useRef, useState } from "preact/hooks";
import { search } from "./filter.ts";
import { Lost } from "./reading.ts";
import type { Trace } from "./trace.ts";

/** The events that contain a text, as far as the search has come. */
export interface Found { rows: Uint8Array; ended: boolean }

/** The delay until new results are shown, in ms. */
const patience = 250;

/** Searches a trace as it grows. The results of the previous search stay until there are new
 * ones. */
export function useSearch(trace: Trace, text: string): Found | undefined {
  const [found, setFound] = useState<Found>();
  const before = useRef<{ trace: Trace; text: string; rows: Uint8Array; chunks: number }>();
  useEffect(() => {
    if (!text) { setFound(undefined); return; }
    const stop = new AbortController(), { chunkCount } = trace;
    const known = before.current?.trace === trace && before.current.text === text && !trace.searched ? before.current : undefined;
    const rows = new Uint8Array(trace.length);
    if (known) rows.set(known.rows.subarray(0, rows.length)); else setFound((was) => was && { ...was, ended: false });
    const look = async () => {
      let shown = performance.now();
      try {
        await search(trace, text, known?.chunks ?? 0, stop.signal, (row) => {
          rows[row] = 1;
          if (stop.signal.aborted || performance.now() < shown + patience) return;
          shown = performance.now();
          setFound({ rows, ended: false });
        });
      } catch (problem) {
        if (!stop.signal.aborted && !(problem instanceof Lost)) throw problem;
      }
      if (stop.signal.aborted) return;
      before.current = { trace, text, rows, chunks: chunkCount };
      setFound({ rows, ended: true });
    };
    const timer = setTimeout(look, known ? 0 : 120);
    return () => { stop.abort(); clearTimeout(timer); };
  }, [trace, text, trace.length]);
  return text ? found : undefined;
}
