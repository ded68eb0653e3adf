import { useMemo } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { type Lag, lagsAt, waitsAt } from "./between.ts";
import { objectName } from "./filter.ts";
import { usePromise, Yaml } from "./parts.tsx";
import { objectAt } from "./state.ts";
import { instant, span } from "./time.ts";
import { difference, yaml } from "./yaml.ts";

/** The caches that do not show earlier changes yet. */
export function Caches(shared: Shared) {
  const { trace, row } = shared;
  const lags = usePromise(() => lagsAt(trace, row), [trace, row, trace.length]);
  if (!lags?.length) return null;
  return (
    <section class="caches">
      <h3>Caches that lag · {lags.length}</h3>
      {lags.map((lag) => <Cache key={lag.component} {...shared} lag={lag} />)}
    </section>
  );
}

function Cache({ lag, ...shared }: Shared & { lag: Lag }) {
  const { trace } = shared;
  const objects = useMemo(() => [...new Set(lag.changes.map((i) => trace.object[i]))], [lag]);
  return (
    <details>
      <summary>
        <span>{lag.component.replace("/", " ")}</span>
        <span class="soft"> has not seen {lag.changes.length === 1 ? "1 change" : `${lag.changes.length} changes`} of {objects.map((o) => objectName(trace.objects[o])).join(", ")}
          {lag.gone ? "; it ends before it does" : lag.relisted ? "; it lists them anew" : ""}</span>
      </summary>
      {objects.map((o) => <Cached key={o} {...shared} object={o} unseen={lag.changes.filter((i) => trace.object[i] === o)} component={lag.component} />)}
    </details>
  );
}

/** An object in a cache and in the API server. */
function Cached({ trace, row, object, unseen, component, go }: Shared & { object: number; unseen: number[]; component: string }) {
  const both = usePromise(() => Promise.all([objectAt(trace, object, unseen[0] - 1), objectAt(trace, object, row)]), [trace, object, row, unseen[0]]);
  if (!both) return null;
  const [cached, stored] = both.map((b) => (b?.after ? yaml(b.after) : [])), name = objectName(trace.objects[object]);
  const all = difference(cached, stored);
  const near = all.filter((line, i) => line.sign !== " " || all.slice(Math.max(0, i - 2), i + 3).some((l) => l.sign !== " ") || /^\S/.test(line.text));
  return (
    <>
      <p class="soft"><button class="link" onClick={() => go({ at: trace.seq[unseen[0]] })}>{instant(trace.at[unseen[0]])}</button> {name}: − in the cache{cached.length ? "" : " (missing)"}, + as it is{stored.length ? "" : " (deleted)"}</p>
      <Yaml lines={near} label={`${name} in the cache of ${component}, and as it is`} />
    </>
  );
}

const few = 6;

/** The wait of each process when an instant is over, the newest first. */
export function Waits({ trace, row, live, place }: Shared) {
  const waits = usePromise(() => waitsAt(trace, row), [trace, row, trace.length]);
  if (!waits) return null;
  const now = live && !place.at ? live.now : trace.at[row];
  const table = (some: typeof waits) => (
    <table class="waits">
      <thead class="unseen"><tr><th>Process</th><th>Waits for</th><th>Since</th></tr></thead>
      <tbody>{some.map((w) => <tr key={w.process}><td title={w.process}>{w.process}</td><td title={w.reason}>{w.reason}</td><td class="soft number">{span(Math.max(0, now - w.since))}</td></tr>)}</tbody>
    </table>
  );
  return (
    <section>
      <h3>What processes wait for · {waits.length}</h3>
      {table(waits.slice(0, few))}
      {waits.length > few && <details class="more"><summary class="soft">{waits.length - few} that have waited for longer</summary>{table(waits.slice(few, 500))}</details>}
    </section>
  );
}
