import type { Fields, Trace } from "./trace.ts";

/** An object at an instant. */
export interface Known { object: number; row: number; state: string; info: string; tone: string; since: number }

const all = () => true;

/** The objects that exist after an event, by their position in the trace's list; isWanted
 * selects changes. */
export function objectsAt(trace: Trace, row: number, isWanted: (i: number) => boolean = all): Map<number, Known> {
  const now = new Map<number, Known>();
  for (let i = 0; i <= row; i++) {
    if (!isWanted(i) || !trace.isKind(i, "api")) continue;
    const object = trace.object[i];
    if (trace.strings[trace.method[i]] === "DELETED") { now.delete(object); continue; }
    const before = now.get(object), state = trace.strings[trace.state[i]];
    now.set(object, {
      object, row: i, state, info: trace.strings[trace.info[i]], tone: ["", "", "", "wait", "bad", "good"][trace.stateTone[i]],
      since: before && before.state === state ? before.since : trace.at[i],
    });
  }
  return now;
}

/** An object after an event, and before its last change; undefined if there is none. */
export async function objectAt(trace: Trace, object: number, row: number): Promise<{ before?: Fields; after?: Fields; row: number } | undefined> {
  const changes: number[] = [];
  for (let i = row; i >= 0; i--) {
    if (trace.object[i] !== object || !trace.isKind(i, "api")) continue;
    changes.push(i);
    if (trace.strings[trace.method[i]] !== "MODIFIED" && changes.length > 1) break;
    if (changes.length > 34) break; // one of them is written in full
  }
  if (!changes.length) return undefined;
  let before: Fields | undefined, after: Fields | undefined;
  for (const i of changes.reverse()) {
    const { line, full } = await trace.detail(i);
    before = after;
    if (line.ev === "DELETED") after = undefined;
    else if (line.ev === "MODIFIED") after = full ?? (merged(after ?? {}, line.patch ?? {}) as Fields);
    else after = line.obj as Fields;
  }
  return { before, after, row: changes[changes.length - 1] };
}

/** Applies a JSON merge patch (RFC 7386). */
export function merged(before: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const after: Fields = before !== null && typeof before === "object" && !Array.isArray(before) ? { ...(before as Fields) } : {};
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete after[name]; else after[name] = merged(after[name], change);
  }
  return after;
}

/** A mount on a node, made by a call or by the kubelet itself; left is the call that should have
 * removed it. */
export interface Mount { node: string; path: string; what: string; by: number; left?: number }

/** The mounts and files that exist after an event, by answers and writes; a mount stays that a call
 * should have removed and did not. isWanted selects events. */
export function nodesAt(trace: Trace, row: number, isWanted: (i: number) => boolean = all): { mounts: Mount[]; files: Mount[] } {
  const mounts = new Map<string, Mount>(), files = new Map<string, Mount>();
  for (let i = 0; i <= row; i++) {
    if (!isWanted(i)) continue;
    const node = trace.nodeOf(i), path = trace.paths[trace.path[i]], at = node + ":" + path, kind = trace.kindOf(i);
    if (!path || trace.code[i]) continue;
    if (kind === "file") file(trace, i, at, node, path, mounts, files);
    if (kind !== "csi") continue;
    const isEffective = !trace.noEffect.has(i);
    switch (trace.methodOf(i)) {
      case "NodeStageVolume": if (isEffective) mounts.set(at, { node, path, what: "staged", by: i }); break;
      case "NodePublishVolume": if (isEffective) mounts.set(at, { node, path, what: "published", by: i }); break;
      case "NodeUnstageVolume": case "NodeUnpublishVolume": {
        const was = mounts.get(at);
        if (isEffective) mounts.delete(at); else if (was) mounts.set(at, { ...was, left: i });
      }
    }
  }
  return { mounts: [...mounts.values()].sort((a, b) => Number(a.left === undefined) - Number(b.left === undefined)), files: [...files.values()] };
}

function file(trace: Trace, i: number, at: string, node: string, path: string, mounts: Map<string, Mount>, files: Map<string, Mount>) {
  const what = trace.strings[trace.method[i]];
  if (what === "bind mount") mounts.set(at, { node, path, what: "bind mount", by: i });
  else if (what === "unmount") mounts.delete(at);
  else if (/^(remove|rmdir|unlink)/.test(what)) {
    for (const known of files.keys()) if (known === at || known.startsWith(at + "/")) files.delete(known);
  } else if (what === "mkdir" || what === "write" || what === "symlink") files.set(at, { node, path, what, by: i });
}

/** The calls that have begun and not ended after an event. */
export function underWay(trace: Trace, row: number): number[] {
  const found: number[] = [];
  const now = trace.at[row];
  for (let i = 0; i <= row; i++) {
    if (trace.isKind(i, "csi") && (trace.flags[i] & 32 || (trace.took[i] > 0 && trace.at[i] + trace.took[i] > now))) found.push(i);
  }
  return found;
}
