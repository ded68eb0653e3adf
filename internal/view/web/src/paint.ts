import { type Axis, widestPause } from "./axis.ts";
import { type Lane, laneName, type Span } from "./lanes.ts";
import { span } from "./time.ts";
import type { Trace } from "./trace.ts";

export const rowHeight = 24;
const head = 22; // the ruler

/** The part of the axis that is painted, from a place on, at a scale of pixels per place. */
export interface Picture {
  trace: Trace; axis: Axis; lanes: Lane[]; shown: Uint8Array; row: number;
  from: number; scale: number; labels: number; width: number; height: number; top: number;
  marks?: Mark[];
}

/** A marked place of the axis, and the reason for the mark. */
export interface Mark { place: number; text: string; chosen: boolean }

/** The lanes with shown events. */
export function shownLanes(all: Lane[], shown: Uint8Array, trace: Trace): Lane[] {
  return all.filter((lane) => lane.rows.some((r) => shown[r]) || (lane.group === "volume" && lane.spans.some((s) => shown[s.from] || (s.to < trace.length && shown[s.to]))));
}

type Colors = Record<"ground" | "card" | "line" | "text" | "soft" | "accent" | "good" | "bad" | "wait" | "mark" | "attached" | "staged" | "published", string>;

function colors(of: Element): Colors {
  const style = getComputedStyle(of), found = {} as Colors;
  for (const name of ["ground", "card", "line", "text", "soft", "accent", "good", "bad", "wait", "mark", "attached", "staged", "published"] as const) found[name] = style.getPropertyValue("--" + name).trim();
  return found;
}

export function paint(canvas: HTMLCanvasElement, p: Picture) {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(p.width * ratio) || canvas.height !== Math.round(p.height * ratio)) {
    canvas.width = Math.round(p.width * ratio);
    canvas.height = Math.round(p.height * ratio);
    canvas.style.width = p.width + "px";
    canvas.style.height = p.height + "px";
  }
  const c = canvas.getContext("2d")!, color = colors(canvas);
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = color.card;
  c.fillRect(0, 0, p.width, p.height);
  c.font = "12px " + getComputedStyle(canvas).fontFamily;
  c.textBaseline = "middle";
  const x = (place: number) => p.labels + (place - p.from) * p.scale;

  c.save();
  c.beginPath();
  c.rect(p.labels, 0, p.width - p.labels, p.height);
  c.clip();
  pauses(c, p, color, x);
  const first = Math.max(0, Math.floor(p.top / rowHeight)), last = Math.min(p.lanes.length, Math.ceil((p.top + p.height) / rowHeight));
  c.save();
  c.beginPath();
  c.rect(p.labels, head, p.width, p.height - head);
  c.clip();
  for (let i = first; i < last; i++) {
    const y = head + i * rowHeight - p.top;
    if (i && p.lanes[i].group !== p.lanes[i - 1].group) { c.fillStyle = color.line; c.fillRect(p.labels, y, p.width, 1); }
    if (p.lanes[i].group === "volume") spans(c, p, p.lanes[i], y, color, x); else events(c, p, p.lanes[i], y, color, x);
  }
  arrows(c, p, color, x);
  c.restore();
  ruler(c, p, color, x);
  marks(c, p, color, x);
  c.restore();
  labels(c, p, color, first, last);
}

/** Marked places: a vertical line, with a label at its foot. */
function marks(c: CanvasRenderingContext2D, p: Picture, color: Colors, x: (place: number) => number) {
  const taken: [number, number, number][] = [];
  for (const m of p.marks ?? []) {
    const at = x(m.place), wide = c.measureText(m.text).width + 10;
    if (at < p.labels - 1 || at > p.width) continue;
    c.globalAlpha = m.chosen ? 1 : 0.5;
    c.fillStyle = color.bad;
    c.fillRect(at - (m.chosen ? 1 : 0.5), head, m.chosen ? 2 : 1, p.height);
    c.globalAlpha = 1;
    const left = Math.min(at, p.width - wide);
    let line = 0;
    while (taken.some(([from, to, on]) => on === line && left < to && left + wide > from)) line++;
    taken.push([left, left + wide, line]);
    const y = p.height - 17 * (line + 1);
    c.fillStyle = m.chosen ? color.bad : color.card;
    c.fillRect(left, y, wide, 16);
    c.strokeStyle = color.bad;
    c.lineWidth = 1;
    c.strokeRect(left + 0.5, y + 0.5, wide - 1, 15);
    c.fillStyle = m.chosen ? color.card : color.bad;
    c.textAlign = "left";
    c.fillText(m.text, left + 5, y + 8.5);
  }
}

/** Periods without events. */
function pauses(c: CanvasRenderingContext2D, p: Picture, color: Colors, x: (place: number) => number) {
  let free = -Infinity;
  if (!pausesShow(p)) return;
  for (const pause of p.axis.pausesIn(p.from, p.from + (p.width - p.labels) / p.scale)) {
    const left = x(pause.from), right = x(pause.to);
    if (right < p.labels || left > p.width) continue;
    c.fillStyle = color.ground;
    c.fillRect(left, head, right - left, p.height);
    const text = "+" + span(pause.ms), wide = c.measureText(text).width;
    if (wide < right - left + 24 && left > free) {
      c.fillStyle = color.soft;
      c.textAlign = "center";
      c.fillText(text, (left + right) / 2, head / 2);
      free = (left + right) / 2 + wide / 2 + 8;
    }
  }
}

/** The widest pause has at least a pixel. */
function pausesShow(p: Picture): boolean { return widestPause * p.scale >= 1; }

/** The times of events, where there is room. */
function ruler(c: CanvasRenderingContext2D, p: Picture, color: Colors, x: (place: number) => number) {
  c.fillStyle = color.line;
  c.fillRect(p.labels, head - 1, p.width, 1);
  c.textAlign = "left";
  let free = p.labels;
  const taken = (pausesShow(p) ? p.axis.pausesIn(p.from, p.from + (p.width - p.labels) / p.scale) : []).map((pause) => { const middle = (x(pause.from) + x(pause.to)) / 2, half = c.measureText("+" + span(pause.ms)).width / 2 + 4; return [middle - half, middle + half]; }).filter(([, right]) => right > p.labels);
  let next = 0, before = -1;
  for (let i = p.axis.firstAfter(p.from); i < p.trace.length; i++) {
    if (x(p.axis.place[i]) < free) i = Math.max(i, p.axis.firstAfter(p.from + (free - p.labels) / p.scale));
    if (i >= p.trace.length) break;
    if (!p.shown[i] || p.trace.at[i] === before) continue;
    before = p.trace.at[i];
    const at = x(p.axis.place[i]);
    if (at > p.width) break;
    if (at < free) continue;
    const text = (p.trace.at[i] / 1000).toFixed(3).replace(/\.?0+$/, "") + " s", wide = c.measureText(text).width + 6;
    while (next < taken.length && taken[next][1] < at) next++;
    if (next < taken.length && taken[next][0] < at + wide) continue;
    c.fillStyle = color.line;
    c.fillRect(at, head - 6, 1, 6);
    c.fillStyle = color.soft;
    c.fillText(text, at + 3, head / 2);
    free = at + wide + 14;
  }
}

function events(c: CanvasRenderingContext2D, p: Picture, lane: Lane, y: number, color: Colors, x: (place: number) => number) {
  const { trace, axis } = p, rows = lane.rows;
  const low = firstFrom(axis, rows, p.from - 1), chosen = behind(rows, p.row - 1);
  let nextText = -Infinity, taken = -Infinity; // a place is taken up to here
  const plugin = lane.group === "driver", middle = y + rowHeight / 2, wide = Math.max(3, Math.min(p.scale - 2, 16));
  for (let i = low; i < rows.length; i++) {
    const r = rows[i];
    const at = x(axis.place[r]);
    if (at > p.width + 20) break;
    if (at < taken && r !== p.row && !trace.failed(r)) {
      if (p.scale < 0.5) i = Math.min(firstFrom(axis, rows, p.from + (taken - p.labels) / p.scale, i), lane.failed[behind(lane.failed, i)] ?? Infinity, chosen > i ? chosen : Infinity) - 1;
      continue;
    }
    if (!p.shown[r]) continue;
    taken = Math.round(at) + 0.5;
    const failed = trace.failed(r), kind = trace.kindOf(r);
    const tone = trace.toneOf(r);
    const fill = failed ? color.bad : tone === "wait" || kind === "fault" ? color.wait : kind === "csi" ? color.good : kind === "step" ? color.accent : color.soft;
    c.fillStyle = fill;
    if (kind === "csi") {
      c.beginPath();
      c.roundRect(at - wide / 2, middle - (plugin ? 5 : 7), wide, plugin ? 10 : 14, 3);
      c.fill();
    } else if (kind === "violation" || kind === "data" || kind === "unmount" || kind === "died") {
      mark(c, at, middle, 7);
    } else if (kind === "fault" || tone === "wait") {
      mark(c, at, middle, 5);
    } else if (kind === "step") {
      c.beginPath();
      c.moveTo(at - 4, middle - 6); c.lineTo(at + 6, middle); c.lineTo(at - 4, middle + 6);
      c.fill();
    } else {
      c.fillRect(at - 1, middle - 5, 2, 10);
    }
    if (r === p.row) { c.strokeStyle = color.text; c.lineWidth = 2; c.strokeRect(at - Math.max(wide / 2, 8) - 2, middle - 10, Math.max(wide, 16) + 4, 20); }
    if (at - 6 > nextText || kind === "step") nextText = label(c, p, lane, rows, i, at + Math.max(wide / 2, 8), middle, color, nextText);
    if (trace.first[r]) retried(c, x(axis.place[r - trace.first[r]]), at, middle, color);
  }
}

/** The first of some rows at or after a place. */
function firstFrom(axis: Axis, rows: number[], place: number, from = 0): number {
  let low = from, high = rows.length;
  while (low < high) { const middle = (low + high) >> 1; if (axis.place[rows[middle]] < place) low = middle + 1; else high = middle; }
  return low;
}

/** The position of the first of some ascending numbers that is greater than another. */
function behind(numbers: number[], than: number): number {
  let low = 0, high = numbers.length;
  while (low < high) { const middle = (low + high) >> 1; if (numbers[middle] <= than) low = middle + 1; else high = middle; }
  return low;
}

/** The name of an event, if there is room before the next one in the lane. */
function label(c: CanvasRenderingContext2D, p: Picture, lane: Lane, rows: number[], i: number, at: number, y: number, color: Colors, free: number): number {
  let next = p.width + 200;
  for (let k = i + 1; k < rows.length; k++) if (p.shown[rows[k]]) { next = p.labels + (p.axis.place[rows[k]] - p.from) * p.scale - 8; break; }
  const kind = p.trace.kindOf(rows[i]);
  if (lane.group === "api" || next - at < 24 || at < free) return free;
  const text = kind === "step" ? p.trace.paths[p.trace.path[rows[i]]] : kind === "api" ? p.trace.objects[p.trace.object[rows[i]]][0] : p.trace.methodOf(rows[i]) || kind;
  const cut = fit(c, text, next - at - 4);
  if (!cut) return free;
  c.fillStyle = p.trace.failed(rows[i]) ? color.bad : color.text;
  c.textAlign = "left";
  c.fillText(cut, at + 2, y);
  return at + c.measureText(cut).width;
}

const widths = new Map<string, number>();
function fit(c: CanvasRenderingContext2D, text: string, room: number): string {
  let wide = widths.get(text);
  if (wide === undefined) widths.set(text, (wide = c.measureText(text).width));
  if (wide <= room) return text;
  const letters = Math.floor((room / wide) * text.length) - 1;
  return letters >= 4 ? text.slice(0, letters) + "…" : "";
}

/** The name of a lane, always with its end, the node: lanes of several nodes have the same
 * beginning. */
function fitName(c: CanvasRenderingContext2D, name: string, room: number): string {
  const [, what, node] = /^(.+) on (\S+)$/.exec(name) ?? [];
  const whole = fit(c, name, room);
  if (whole === name || !node) return whole;
  const end = " · " + node;
  return (fit(c, what, room - c.measureText(end).width) || "…") + end;
}

function mark(c: CanvasRenderingContext2D, x: number, y: number, r: number) {
  c.beginPath();
  c.moveTo(x, y - r); c.lineTo(x + r, y); c.lineTo(x, y + r); c.lineTo(x - r, y);
  c.fill();
}

/** Connects the attempts of one call. */
function retried(c: CanvasRenderingContext2D, from: number, to: number, y: number, color: Colors) {
  c.strokeStyle = color.wait;
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(from, y + 9); c.lineTo(to, y + 9);
  c.stroke();
}

/** Periods of a volume's life on a node. */
function spans(c: CanvasRenderingContext2D, p: Picture, lane: Lane, y: number, color: Colors, x: (place: number) => number) {
  const inset: Record<Span["what"], number> = { attached: 3, staged: 6, published: 9 };
  const ordered = [...lane.spans].sort((a, b) => inset[a.what] - inset[b.what]);
  for (const s of ordered) {
    const left = x(p.axis.place[s.from]), right = s.to >= p.trace.length ? p.width + 10 : x(p.axis.place[s.to]);
    if (right < p.labels || left > p.width) continue;
    bar(c, left, right, y + inset[s.what], rowHeight - 2 * inset[s.what], color[s.what]);
    if (s.left !== undefined) bar(c, x(p.axis.place[s.left]), right, y + inset[s.what], rowHeight - 2 * inset[s.what], color.bad);
  }
}

function bar(c: CanvasRenderingContext2D, left: number, right: number, top: number, height: number, fill: string) {
  c.fillStyle = fill;
  c.beginPath();
  c.roundRect(left, top, Math.max(2, right - left), height, 3);
  c.fill();
}

/** The chain of causes, from the selected event back. */
function arrows(c: CanvasRenderingContext2D, p: Picture, color: Colors, x: (place: number) => number) {
  if (p.row < 0) return;
  const at = x(p.axis.place[p.row]);
  c.fillStyle = color.accent;
  c.globalAlpha = 0.35;
  c.fillRect(at - 0.5, head, 1, p.height);
  c.globalAlpha = 1;
  c.strokeStyle = color.accent;
  c.lineWidth = 1.5;
  let to = p.row;
  for (let depth = 0, from = p.trace.causeOf(to); from >= 0 && depth < 12; depth++, from = p.trace.causeOf(from)) {
    if (!p.shown[from]) continue;
    const a = place(p, from, x), b = place(p, to, x);
    if (a && b && (a.x !== b.x || a.y !== b.y)) {
      c.beginPath();
      c.moveTo(a.x, a.y);
      c.bezierCurveTo((a.x + b.x) / 2, a.y, (a.x + b.x) / 2, b.y, b.x, b.y);
      c.stroke();
    }
    to = from;
  }
}

function place(p: Picture, row: number, x: (place: number) => number) {
  const name = laneName(p.trace, row), own = p.lanes.findIndex((l) => l.name === name);
  const lane = own >= 0 ? own : p.lanes.findIndex((l) => l.folds && l.rows.includes(row));
  return lane < 0 ? undefined : { x: x(p.axis.place[row]), y: head + lane * rowHeight - p.top + rowHeight / 2 };
}

function labels(c: CanvasRenderingContext2D, p: Picture, color: Colors, first: number, last: number) {
  c.fillStyle = color.card;
  c.fillRect(0, 0, p.labels, p.height);
  c.fillStyle = color.line;
  c.fillRect(p.labels - 1, 0, 1, p.height);
  c.fillRect(0, head - 1, p.labels, 1);
  c.save();
  c.beginPath();
  c.rect(0, head, p.labels, p.height);
  c.clip();
  c.textAlign = "left";
  for (let i = first; i < last; i++) {
    const lane = p.lanes[i], y = head + i * rowHeight - p.top;
    if (i && lane.group !== p.lanes[i - 1].group) { c.fillStyle = color.line; c.fillRect(0, y, p.labels, 1); }
    c.fillStyle = lane.spans.some((s) => s.left !== undefined) ? color.bad : lane.folds ? color.accent : color.text;
    c.fillText(fitName(c, lane.name, p.labels - 18), 12, y + rowHeight / 2);
  }
  c.restore();
}
