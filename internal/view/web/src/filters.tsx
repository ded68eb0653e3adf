import { useMemo } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { everything, type Filter, isFiltered, objectName } from "./filter.ts";
import { Export } from "./export.tsx";
import type { Trace } from "./trace.ts";

/** The calls and nodes that a trace has. */
function choices(trace: Trace) {
  const methods = new Set<number>(), nodes = new Set<number>(), call = trace.strings.indexOf("csi");
  for (let i = 0; i < trace.length; i++) {
    if (trace.kind[i] === call) methods.add(trace.method[i]);
    if (trace.node[i]) nodes.add(trace.node[i]);
  }
  return { methods: new Set([...methods].map((m) => trace.strings[m].replace(/^.*\//, ""))), nodes: new Set([...nodes].map((n) => trace.strings[n])) };
}

/** The active filters, with buttons that remove them. */
export function Filters(shared: Shared) {
  const { trace, place, go, shown, isSearching } = shared;
  const set = (change: Partial<Filter>) => go({ filter: { ...place.filter, ...change } });
  const { methods, nodes } = useMemo(() => choices(trace), [trace, trace.length]);
  const count = useMemo(() => shown.reduce((sum, s) => sum + s, 0), [shown]);
  const select = (label: string, key: "volume" | "node" | "object" | "call" | "lane", options: string[]) => (
    <select aria-label={label} value={place.filter[key]} class={place.filter[key] ? "on" : ""} onChange={(e) => set({ [key]: e.currentTarget.value })}>
      <option value="">{label}</option>
      {options.map((o) => <option key={o} value={o}>{o}</option>)}
    </select>
  );
  return (
    <div class="filters" role="search">
      <input id="search" type="search" placeholder="Search  /" aria-label="Search the trace" value={place.filter.q} onInput={(e) => set({ q: e.currentTarget.value })} />
      {select("Any volume", "volume", [...new Set(trace.volumes.slice(1).map((v) => v.label))].slice(0, 500))}
      {select("Any node", "node", [...nodes].sort())}
      {select("Any call", "call", [...methods].sort())}
      {select("Any object", "object", trace.objects.slice(1).map(objectName).slice(0, 500).sort())}
      <label class={place.filter.failures ? "on" : ""}><input type="checkbox" checked={place.filter.failures} onChange={(e) => set({ failures: e.currentTarget.checked })} />Only trouble</label>
      <label class={place.filter.all ? "on" : ""}><input type="checkbox" checked={place.filter.all} onChange={(e) => set({ all: e.currentTarget.checked })} />Routine, too</label>
      {(isFiltered(place.filter) || place.filter.all) && <button class="small" onClick={() => go({ filter: everything })}>Clear</button>}
      <span class="soft count" role="status">{isSearching && "searching … "}{count.toLocaleString("en")} of {trace.length.toLocaleString("en")}</span>
      <Export {...shared} />
    </div>
  );
}
