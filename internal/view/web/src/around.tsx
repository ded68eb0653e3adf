import { useMemo } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { endOf } from "./between.ts";
import { objectName } from "./filter.ts";
import { type Known, nodesAt, objectsAt } from "./state.ts";
import type { Trace } from "./trace.ts";

/** An object or mount of a volume, before a call and at the end of the instant in which it was
 * answered. */
interface Thing { name: string; title: string; object: boolean; before: string; after: string; left?: boolean }

const kinds: Record<string, string> = { persistentvolumeclaims: "claim", persistentvolumes: "volume", volumeattachments: "attachment", pods: "pod", volumesnapshots: "snapshot", volumesnapshotcontents: "content" };

/** The objects and mounts of a call's volume, before and after it. */
export function Around({ trace, row, go }: Shared) {
  const things = useMemo(() => (trace.isKind(row, "csi") ? around(trace, row) : []), [trace, row, trace.length]);
  if (!things.length) return null;
  const name = (t: Thing) => t.object ? <button class="link" title={t.title} onClick={() => go({ tab: "cluster", object: t.title, at: trace.seq[row] })}>{t.name}</button> : <span title={t.title}>{t.name}</span>;
  const changed = things.filter((t) => t.left || t.before !== t.after), same = things.filter((t) => !changed.includes(t));
  return (
    <>
      <h3>Before and after</h3>
      <dl class="facts around">
        {changed.map((t) => <><dt>{name(t)}</dt><dd class={t.left ? "bad" : ""}>{t.before || "not there"} → {t.left ? "still there" : t.after || "gone"}</dd></>)}
        {same.length > 0 && <><dt>Unchanged</dt><dd>{same.map((t, i) => <>{i > 0 && ", "}{name(t)} <span class="soft">{t.after}</span></>)}</dd></>}
      </dl>
    </>
  );
}

function around(trace: Trace, row: number): Thing[] {
  const volume = trace.volume[row], pod = trace.object[row], end = ending(trace, row);
  const isOfIt = (i: number) => volume !== 0 && trace.volume[i] === volume || pod !== 0 && trace.object[i] === pod;
  const found = new Map<string, Thing>();
  const at = (key: string, fresh: Omit<Thing, "before" | "after">): Thing => found.get(key) ?? found.set(key, { ...fresh, before: "", after: "" }).get(key)!;
  for (const [when, until] of [["before", row - 1], ["after", end]] as const) {
    for (const known of objectsAt(trace, until, isOfIt).values()) {
      const [resource, name] = trace.objects[known.object];
      if (kinds[resource]) at(resource + name, { name: `${kinds[resource]} ${short(name)}`, title: objectName(trace.objects[known.object]), object: true })[when] = stateOf(known);
    }
    for (const m of nodesAt(trace, until, isOfIt).mounts) {
      const thing = at(m.node + m.path, { name: "mount " + m.path.replace(/^.*\//, "…/"), title: `${m.path} on ${m.node}`, object: false });
      thing[when] = m.what;
      if (when === "after") thing.left = m.left !== undefined;
    }
  }
  return [...found.values()];
}

/** A name without its long id and the usual namespace. */
const short = (name: string) => name.replace(/^default\//, "").replace(/([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{27}|([0-9a-f]{4})[0-9a-f]{60}/, "$1$2…");

const stateOf = (known: Known) => known.state || known.info || "there";

/** The last event of the instant in which a call was answered. */
function ending(trace: Trace, row: number): number {
  let end = row;
  while (end + 1 < trace.length && trace.at[end + 1] <= trace.at[row] + trace.took[row]) end++;
  return endOf(trace, end);
}
