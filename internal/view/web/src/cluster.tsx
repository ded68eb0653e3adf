import { useMemo, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { objectName } from "./filter.ts";
import { useDetails, usePromise, Yaml } from "./parts.tsx";
import { Caches, Waits } from "./standing.tsx";
import { type Known, nodesAt, objectAt, objectsAt, underWay } from "./state.ts";
import { instant, span } from "./time.ts";
import { tones, type Trace } from "./trace.ts";
import { difference, yaml } from "./yaml.ts";

const titles: [string, string][] = [
  ["pods", "Pods"], ["persistentvolumeclaims", "Claims"], ["persistentvolumes", "Volumes"], ["volumeattachments", "Attachments"], ["volumesnapshots", "Snapshots"], ["nodes", "Nodes"],
];

/** The cluster at an instant: objects with problems first, mounts and files of the nodes, calls
 * under way. */
export function Cluster(shared: Shared) {
  const { trace, row, place, go } = shared;
  const now = useMemo(() => objectsAt(trace, row), [trace, row, trace.length]);
  const nodes = useMemo(() => nodesAt(trace, row), [trace, row, trace.length]);
  const calls = useMemo(() => underWay(trace, row), [trace, row, trace.length]);
  const groups = new Map<string, Known[]>(titles.map(([resource]) => [resource, []]));
  for (const known of now.values()) {
    const resource = trace.objects[known.object][0];
    if (!groups.has(resource)) groups.set(resource, []);
    groups.get(resource)!.push(known);
  }
  const worst = titles.flatMap(([resource]) => groups.get(resource)!).sort((a, b) => rank(a) - rank(b))[0];
  const chosen = place.object ? trace.objects.findIndex((o) => objectName(o) === place.object) : (worst?.object ?? -1);
  const [order, setOrder] = useState<Order>("trouble");
  const isLeft = nodes.mounts.some((m) => m.left !== undefined);
  const mounts = shared.live && !place.at ? <section>
            <h3>Mounts · {shared.live.mounts.length}</h3>
            {shared.live.mounts.length === 0 ? <p class="soft">none</p> : (
              <table class="paths"><thead class="unseen"><tr><th>Node</th><th>Path</th><th>Source</th></tr></thead>
                <tbody>{shared.live.mounts.map((m) => <tr key={m.node + m.target}><td>{m.node}</td><td class="path" title={m.target}><bdi>{m.target}</bdi></td><td class="soft path" title={m.source}><bdi>{m.source}</bdi></td></tr>)}</tbody></table>
            )}
          </section> : <section>
            <h3>Mounts · {nodes.mounts.length}</h3>
            <p class="soft note">by the answers of the driver, the writes of the kubelet, and the mount table after each call</p>
            {nodes.mounts.length === 0 ? <p class="soft">none</p> : (
              <table class="paths"><thead class="unseen"><tr><th>Node</th><th>Path</th><th>Made by</th></tr></thead>
                <tbody>{nodes.mounts.map((m) => (
                  <tr key={m.node + m.path} onClick={() => go({ tab: "timeline", at: trace.seq[m.left ?? m.by] })}>
                    <td>{m.node}</td><td class="path" title={m.path}><bdi>{m.path}</bdi></td>
                    <td class={m.left !== undefined ? "bad" : ""}><button class="link">{m.left !== undefined ? "still there" : m.what}</button></td>
                  </tr>
                ))}</tbody></table>
            )}
          </section>;
  return (
    <>
      <Slider {...shared} />
      <div class="split cluster-split">
        <div class="objects" tabIndex={0} role="region" aria-label="Objects and mounts">
          <p class="orders" role="group" aria-label="Order of objects">{orders.map(([o, title]) => <button key={o} class={"small" + (o === order ? " on" : "")} aria-pressed={o === order} onClick={() => setOrder(o)}>{title}</button>)}</p>
          {calls.length === 0 ? <p class="soft idle">No call is under way.</p> : <section>
            <h3>Calls under way · {calls.length}</h3>
            <ul class="plain">{calls.map((c) => (
              <li key={c}><button class="link" onClick={() => go({ tab: "timeline", at: trace.seq[c] })}>{trace.methodOf(c)}</button> <span class="soft">{trace.volumes[trace.volume[c]]?.label} since {instant(trace.at[c])}</span></li>
            ))}</ul>
          </section>}
          <Caches {...shared} />
          {isLeft && mounts}
          {titles.filter(([resource]) => groups.get(resource)!.length).map(([resource, title]) => <Table key={resource} {...shared} title={title} all={groups.get(resource)!} chosen={chosen} order={order} />)}
          {!isLeft && mounts}
          {nodes.files.length > 0 && <section>
            <h3>Files of kubelets · {nodes.files.length}</h3>
            <table class="paths"><thead class="unseen"><tr><th>Node</th><th>Path</th><th>Made by</th></tr></thead>
              <tbody>{nodes.files.slice(0, 200).map((m) => (
                <tr key={m.node + m.path} onClick={() => go({ tab: "timeline", at: trace.seq[m.by], filter: { ...place.filter, all: true } })}><td>{m.node}</td><td class="path" title={m.path}><bdi>{m.path}</bdi></td><td class="soft"><button class="link">{m.what}</button></td></tr>
              ))}</tbody></table>
          </section>}
          {[...groups].filter(([resource, all]) => all.length && !titles.some(([r]) => r === resource)).map(([resource, all]) => <Table key={resource} {...shared} title={resource} all={all} chosen={chosen} order={order} />)}
          <Waits {...shared} />
        </div>
        {chosen > 0 ? <ObjectDetail {...shared} object={chosen} /> : <aside class="detail" aria-label="Object" tabIndex={0}><p class="soft none">Choose an object to see it as it was at this instant, with what the last change did to it.</p></aside>}
      </div>
    </>
  );
}

type Order = "trouble" | "name" | "newest";
const orders: [Order, string][] = [["trouble", "trouble first"], ["name", "by name"], ["newest", "newest first"]];

function compare(trace: Trace, order: Order): (a: Known, b: Known) => number {
  const name = (k: Known) => objectName(trace.objects[k.object]);
  if (order === "name") return (a, b) => name(a).localeCompare(name(b), "en", { numeric: true });
  if (order === "newest") return (a, b) => b.since - a.since;
  return (a, b) => rank(a) - rank(b);
}

/** The objects of a kind. */
function Table({ trace, row, place, go, live, title, all, chosen, order }: Shared & { title: string; all: Known[]; chosen: number; order: Order }) {
  return (
    <section>
      <h3>{title} · {all.length}</h3>
      <table>
        <thead class="unseen"><tr><th>Name</th><th>State</th><th>More</th><th>Since</th></tr></thead>
        <tbody>{all.sort(compare(trace, order)).slice(0, 200).map((k) => {
          const name = objectName(trace.objects[k.object]);
          return (
            <tr key={k.object} class={[k.object === chosen ? "chosen" : "", k.row === row ? "fresh" : ""].join(" ")} onClick={() => go({ object: name })}>
              <td><button class="link" title={name} aria-pressed={k.object === chosen}>{name.slice(name.indexOf("/") + 1)}</button></td>
              <td class={k.tone}>{k.state}</td><td class="soft" title={k.info}><span class="more">{k.info}</span></td>
              <td class="soft number">{k.state && span((live && !place.at ? live.now : trace.at[row]) - k.since)}</td>
            </tr>
          );
        })}</tbody>
      </table>
      {all.length > 200 && <p class="soft">… and {all.length - 200} more</p>}
    </section>
  );
}

function rank(k: Known): number { return { bad: 0, wait: 1, "": 2, good: 3 }[k.tone] ?? 2; }

/** The last event about an object with a problem. */
function Warning({ trace, object, row, go }: Shared & { object: number }) {
  const last = useMemo(() => {
    for (let i = row; i >= 0; i--) {
      if (trace.object[i] !== object) continue;
      if (trace.isKind(i, "event") && /^(wait|bad)$/.test(trace.toneOf(i))) return i;
      if (trace.isKind(i, "api") && (tones[trace.stateTone[i]] === "good" || trace.strings[trace.method[i]] === "DELETED")) return -1;
    }
    return -1;
  }, [trace, object, row, trace.length]);
  const detail = usePromise(() => (last >= 0 ? trace.detail(last) : undefined), [trace, last]);
  if (last < 0 || detail?.line.seq !== undefined && trace.row(detail.line.seq) !== last) return null;
  return <p class="warning"><button class="link" onClick={() => go({ tab: "timeline", at: trace.seq[last] })}>{detail?.line.m} at {instant(trace.at[last])}</button> {detail?.line.msg}</p>;
}

const mostChanges = 40;

/** The words of a change without the name of the object. */
const changeOf = (text = "…") => text.replace(/^\S+\s+/, "") || text;

/** An object in full, and its history. */
function ObjectDetail(shared: Shared & { object: number }) {
  const { trace, row, object, go } = shared;
  const state = usePromise(() => objectAt(trace, object, row), [trace, object, row, trace.length]);
  const changes: number[] = [];
  for (let i = 0; i < trace.length; i++) if (trace.object[i] === object && trace.isKind(i, "api")) changes.push(i);
  const last = changes.slice(-mostChanges), texts = useDetails(trace, last);
  const name = objectName(trace.objects[object]);
  const lines = state?.after ? difference(state.before ? yaml(state.before) : yaml(state.after), yaml(state.after)) : [];
  return (
    <aside class="detail" aria-label="Object" tabIndex={0}>
      <h2>{name}</h2>
      <Warning {...shared} />
      {changes.length > last.length && <p class="soft">{changes.length - last.length} earlier changes</p>}
      <ol class="history" aria-label="Changes">
        {last.map((i, k) => (
          <li key={i} class={state?.row === i ? "on" : ""}>
            <button class="link" onClick={() => go({ at: trace.seq[i] })} aria-current={state?.row === i}><span class="at">{instant(trace.at[i])}</span> <span>{changeOf(texts[k]?.text)}</span></button>
            <span class="soft">{trace.lanes[trace.lane[i]]}</span>
          </li>
        ))}
      </ol>
      {!state ? <p class="soft">It does not exist yet.</p> : !state.after ? <p class="soft">It was deleted at {instant(trace.at[state.row])}.</p>
        : <><p class="soft">last written at {instant(trace.at[state.row])} by {trace.lanes[trace.lane[state.row]]}</p><Yaml lines={lines} label={name} /></>}
    </aside>
  );
}

/** The selected instant. */
export function Slider({ trace, row, shown, go }: Shared) {
  const step = (by: 1 | -1) => { for (let i = row + by; i >= 0 && i < trace.length; i += by) if (shown[i]) return go({ at: trace.seq[i] }); };
  const detail = usePromise(() => (row >= 0 ? trace.detail(row) : undefined), [trace, row]);
  return (
    <div class="slider">
      <button class="small" onClick={() => step(-1)} aria-label="Step back">←</button>
      <input type="range" min={0} max={Math.max(0, trace.length - 1)} value={row} aria-label="Instant" aria-valuetext={row >= 0 ? instant(trace.at[row]) : ""} onInput={(e) => go({ at: trace.seq[Number(e.currentTarget.value)] })} />
      <button class="small" onClick={() => step(1)} aria-label="Step forward">→</button>
      <button class="small" onClick={() => go({ at: 0 })}>End</button>
      <p><span class="at">{row >= 0 && instant(trace.at[row])}</span> <span class="soft">after</span> {row >= 0 && trace.lanes[trace.lane[row]]}: {detail?.text} <span class="soft">{detail?.outcome}</span></p>
    </div>
  );
}
