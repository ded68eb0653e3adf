import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { usePromise } from "./parts.tsx";
import { outcomeTone } from "./summary.tsx";
import { span } from "./time.ts";

/** The shown events, one a row; only visible rows are rendered. */
export function List({ report, trace, shown, isSearching, row, place, go }: Shared) {
  const rows = useMemo(() => { const all: number[] = []; for (let i = 0; i < trace.length; i++) if (shown[i]) all.push(i); return all; }, [shown, trace.length]);
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const narrow = matchMedia("(max-width: 700px)").matches;
  const rowHeight = narrow ? 46 : 25;
  const at = position(rows, row);

  useEffect(() => {
    const element = box.current!;
    const measure = new ResizeObserver(() => setHeight(element.clientHeight));
    measure.observe(element);
    return () => measure.disconnect();
  }, []);
  useEffect(() => { // scrolls to the selected event
    const element = box.current!, y = at * rowHeight;
    if (!place.at && report.verdict !== "live") return;
    const seen = element.clientHeight / (narrow ? 2 : 1); // a narrow window ends within the list
    if (y < element.scrollTop || y + rowHeight > element.scrollTop + seen) element.scrollTop = Math.max(0, y - seen / 2);
  }, [at, rows, height]);

  const from = Math.max(0, Math.floor(top / rowHeight) - 8), to = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + 8);
  const visible = rows.slice(from, to);
  const details = usePromise(() => Promise.all(visible.map((r) => trace.detail(r))).then((all) => new Map(visible.map((r, i) => [r, all[i]]))), [visible.join(), trace]);
  return (
    <div class="list" ref={box} onScroll={(e) => setTop(e.currentTarget.scrollTop)} tabIndex={0} role="listbox" aria-label="Events" aria-activedescendant={visible.includes(row) ? "event-" + trace.seq[row] : undefined}>
      {rows.length === 0 && <p class="soft none" role="option" aria-selected="false">{isSearching ? "Searching …" : "Nothing fits these filters."}</p>}
      <div class="room" role="presentation" style={{ height: rows.length * rowHeight + (narrow ? height / 2 : 0) + "px" }}>
        {visible.map((r, i) => {
          const d = details?.get(r), before = from + i > 0 ? rows[from + i - 1] : -1, gap = before >= 0 ? trace.at[r] - trace.at[before] : 0;
          return (
            <div key={r} id={"event-" + trace.seq[r]} role="option" aria-selected={r === row && place.at !== 0} aria-setsize={rows.length} aria-posinset={from + i + 1}
              class={["row", trace.kindOf(r), trace.toneOf(r), gap >= 1000 ? "after-gap" : ""].join(" ")} style={{ top: (from + i) * rowHeight + "px", height: rowHeight + "px" }}
              onClick={() => go({ at: trace.seq[r] })}>
              <span class="at" title={gap >= 1000 ? span(gap) + " after the one above" : undefined}>{(trace.at[r] / 1000).toFixed(3)}</span>
              <span class="who">{trace.lanes[trace.lane[r]]}</span>
              <span class="what" title={d && d.text + " " + d.outcome}>{d?.text}{d?.outcome && <span class={"outcome " + outcomeTone(trace, r)}>{d.outcome}</span>}{d?.line.release && <span class="release" title="The release of the driver that received the call">{d.line.release}</span>}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The position of a row among others, even if it is not one of them. */
export function position(rows: number[], row: number): number {
  let low = 0, high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows[middle] <= row) low = middle; else high = middle - 1;
  }
  return low;
}
