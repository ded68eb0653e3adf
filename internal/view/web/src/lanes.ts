import type { Trace } from "./trace.ts";

export type Group = "user" | "api" | "control plane" | "sidecar" | "node" | "driver" | "volume";
// failed are positions in rows; folds is the number of lanes that this one stands for.
export interface Lane { name: string; group: Group; rows: number[]; failed: number[]; spans: Span[]; folds?: number }

/** A period of a volume's life on a node: attached, staged or published, from one event to
 * another. */
// left is the call that should have ended it; it goes on to the end.
export interface Span { what: "attached" | "staged" | "published"; from: number; to: number; left?: number; pod?: string }

const order: Group[] = ["user", "api", "control plane", "sidecar", "node", "driver", "volume"];
const makes: Record<string, Span["what"]> = { ControllerPublishVolume: "attached", NodeStageVolume: "staged", NodePublishVolume: "published" };
const undoes: Record<string, Span["what"]> = { ControllerUnpublishVolume: "attached", NodeUnstageVolume: "staged", NodeUnpublishVolume: "published" };

/** The lanes of a trace: the acting components, the called plugins, and the state of each volume
 * on each node. */
export function lanesOf(trace: Trace): Lane[] {
  const byName = new Map<string, Lane>();
  const lane = (name: string, group: Group): Lane => {
    let known = byName.get(name);
    if (!known) byName.set(name, (known = { name, group, rows: [], failed: [], spans: [] }));
    return known;
  };
  const open = new Map<string, Span>();
  const [call, api, fault] = ["csi", "api", "fault"].map((kind) => trace.strings.indexOf(kind));
  const add = (to: Lane, row: number) => { if (trace.failed(row)) to.failed.push(to.rows.length); to.rows.push(row); };
  const named = (row: number) => { const name = laneName(trace, row); return lane(name, groupOf(name)); };
  let server: Lane | undefined;
  // acting is indexed by positions among the lanes of the trace, called also by methods.
  const acting: Lane[] = [], called = new Map<number, Lane>();
  for (let i = 0; i < trace.length; i++) {
    const kind = trace.kind[i], place = trace.lane[i];
    if (!kind) continue;
    add(kind === fault ? named(i) : (acting[place] ??= named(i)), i);
    if (kind === api) add((server ??= lane("API server", "api")), i);
    if (kind !== call) continue;
    const key = place * 65536 + trace.method[i];
    if (!called.has(key)) called.set(key, lane(pluginOf(trace, i), "driver"));
    add(called.get(key)!, i);
    life(trace, i, open, lane);
  }
  for (const span of open.values()) span.to = trace.length;
  return [...byName.values()].sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group) || (a.group === "volume" || a.group === "node" ? a.name.localeCompare(b.name) : 0));
}

/** More lanes of a kind than this are folded. */
const mostOfAKind = 6;

/** Lanes in which those of many nodes, and of many volumes, share one of each kind, except those
 * with trouble. */
export function folded(lanes: Lane[]): Lane[] {
  const kinds: [string, (l: Lane) => boolean][] = [
    ["kubelets", (l) => l.group === "node" && l.name.startsWith("kubelet ")], ["registrars", (l) => l.group === "node" && !l.name.startsWith("kubelet ")],
    ["drivers on nodes", (l) => l.name.startsWith("driver on ")], ["volumes on nodes", (l) => l.group === "volume"],
  ];
  for (const [name, isOf] of kinds) {
    const quiet = lanes.filter((l) => isOf(l) && !l.failed.length && !l.spans.some((s) => s.left !== undefined));
    if (quiet.length <= mostOfAKind) continue;
    const one: Lane = {
      name: `${quiet.length} ${name}`, group: quiet[0].group, rows: quiet.flatMap((l) => l.rows).sort((a, b) => a - b), failed: [], spans: quiet.flatMap((l) => l.spans), folds: quiet.length,
    };
    const first = lanes.indexOf(quiet[0]), isQuiet = new Set(quiet);
    lanes = [...lanes.slice(0, first), one, ...lanes.slice(first).filter((l) => !isQuiet.has(l))];
  }
  return lanes;
}

/** The lane of an event: events of a node are shown with its kubelet. */
export function laneName(trace: Trace, row: number): string {
  const name = trace.lanes[trace.lane[row]];
  return trace.isKind(row, "fault") && name === trace.nodeOf(row) ? "kubelet " + name : name;
}

function groupOf(name: string): Group {
  if (name === "scenario") return "user";
  if (/^(kubelet|registrar|node-driver-registrar|driver)( |$)/.test(name) || /^node-/.test(name)) return "node";
  if (name.startsWith("csi-") || /sidecar|snapshot/.test(name)) return "sidecar";
  return "control plane";
}

/** The plugin that receives a call. */
export function pluginOf(trace: Trace, row: number): string {
  const service = trace.strings[trace.method[row]].split("/")[0];
  const caller = trace.lanes[trace.lane[row]];
  const node = /^(kubelet|driver|registrar) (.+)$/.exec(caller)?.[2];
  return node && service !== "Controller" ? "driver on " + node : "driver, controller";
}

function life(trace: Trace, row: number, open: Map<string, Span>, lane: (name: string, group: Group) => Lane) {
  const method = trace.methodOf(row), begins = makes[method], ends = undoes[method];
  if ((!begins && !ends) || trace.code[row] || !trace.volume[row]) return;
  const volume = trace.volumes[trace.volume[row]].label, node = trace.nodeOf(row);
  const key = [volume, node, begins ?? ends, (begins ?? ends) === "published" ? trace.path[row] : ""].join("\n");
  if (begins && !open.has(key) && !trace.noEffect.has(row)) {
    const span: Span = { what: begins, from: row, to: row, pod: trace.objects[trace.object[row]][1] };
    open.set(key, span);
    lane(volume + (node ? " on " + node : ""), "volume").spans.push(span);
  }
  const known = ends && open.get(key);
  if (!known) return;
  if (trace.noEffect.has(row)) { known.left ??= row; return; }
  known.to = row;
  open.delete(key);
}
