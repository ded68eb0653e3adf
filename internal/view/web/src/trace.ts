import { Reader } from "./bytes.ts";

/** A line of a trace, as csisim writes it. */
export interface Line {
  t: number; k: string; seq?: number; cause?: number; ev?: string; node?: string; from?: string; driver?: string; m?: string;
  msg?: string; r?: string; name?: string; obj?: unknown; patch?: Fields; req?: Fields; resp?: Fields; code?: string; ms?: number; inj?: string;
  release?: string; // of the driver that received a call, if it has several
  at?: string; src?: string; // of an imported event: its real time, and the lines of logs
}
export type Fields = Record<string, unknown>;

/** An event in full. */
// kept are rules, each with fields.
export interface Detail { line: Line; raw: string; text: string; outcome: string; full?: Fields; kept: string[][] }

export interface Volume { i: number; id: string; label: string; pv?: string }
interface Added { n: number; strings?: string[]; lanes?: string[]; objects?: [string, string][]; paths?: string[]; volumes?: Volume[]; waits: number }

/** A state after some number of events of the trace: a line of it, or the whole state at this
 * point. */
export interface State { after: number; raw: string; line?: Line; known?: Record<string, [string, number]> }

export const QUIET = 8, INJECTED = 16, OPEN = 32, NOEFFECT = 64;
export const tones = ["", "quiet", "strong", "wait", "bad", "good"];

const names = ["at", "seq", "cause", "kind", "method", "lane", "node", "object", "path", "volume", "code", "took", "flags", "first", "state", "info", "stateTone"] as const;
type Column = (typeof names)[number];
type Numbers = Float64Array | Int32Array;
const differences = new Set<Column>(["at", "seq"]);

/** The events of a trace by columns; their details are unpacked when they are shown. */
export class Trace implements Record<Column, Numbers> {
  at: Numbers = new Float64Array(0);
  seq: Numbers = new Int32Array(0);
  cause = this.seq; kind = this.seq; method = this.seq; lane = this.seq; node = this.seq; object = this.seq; path = this.seq; volume = this.seq;
  code = this.seq; took = this.seq; flags = this.seq; first = this.seq; state = this.seq; info = this.seq; stateTone = this.seq;
  length = 0;
  strings = [""]; lanes = [""];
  paths = [""]; // of a step its title
  objects: [string, string][] = [["", ""]];
  volumes: Volume[] = [{ i: 0, id: "", label: "" }];
  /** The rows of the calls that answered OK without having their effect. */
  noEffect = new Set<number>();
  /** Lets the server find the events that contain a text; undefined if the whole trace is
   * here. */
  searched?: (text: string, stop: AbortSignal, found: (row: number) => void) => Promise<void>;

  private chunks: { from: number; packed: () => Promise<string>; details?: Promise<Detail[]>; between?: () => Promise<string>; states?: Promise<State[]>; waits: number }[] = [];
  private methods: string[] = []; // the strings without their services
  private unanswered = new Map<number, number>();
  private bySeq?: Map<number, number>;

  /** Reserves room for a number of events; it grows if there are more. */
  constructor(room = 0) { this.grow(room); }

  /** Adds events: their columns, and functions that load their details and the states between
   * them. */
  append(columns: Uint8Array, details: () => Promise<string>, between?: () => Promise<string>): void {
    const reader = new Reader(columns);
    const added: Added = JSON.parse(reader.text(reader.uvarint()));
    for (const text of added.strings ?? []) this.strings.push(text);
    for (const text of added.lanes ?? []) this.lanes.push(text);
    for (const text of added.paths ?? []) this.paths.push(text);
    for (const object of added.objects ?? []) this.objects.push(object);
    for (const volume of added.volumes ?? []) this.volumes[volume.i] = volume;
    this.grow(this.length + added.n);
    for (const name of names) {
      const column = this[name].subarray(this.length, this.length + added.n);
      reader.varints(column);
      if (differences.has(name)) for (let i = 1; i < column.length; i++) column[i] += column[i - 1];
    }
    for (let i = this.length; i < this.length + added.n; i++) {
      if (this.cause[i]) this.cause[i] = this.seq[i] - this.cause[i];
      if (this.unanswered.size || this.flags[i] & OPEN) this.supersede(i);
    }
    this.chunks.push({ from: this.length, packed: details, between, waits: added.waits });
    const first = this.length, violation = this.strings.indexOf("violation");
    this.length += added.n;
    this.bySeq = undefined;
    for (let i = first; i < this.length; i++) if (this.kind[i] === violation && this.cause[i]) this.accuse(i);
  }

  /** The call that a violation is about is trouble, whatever it answered. */
  private accuse(violation: number) {
    const call = this.causeOf(violation);
    if (call < 0 || !this.isKind(call, "csi")) return;
    this.markBad(call);
    if (this.flags[violation] & NOEFFECT) this.noEffect.add(call);
  }

  /** Marks an event as trouble. */
  markBad(row: number) { this.flags[row] = (this.flags[row] & ~7) | tones.indexOf("bad"); }

  /** In a live cluster, an answered call arrives again and replaces the unanswered one. */
  private supersede(row: number) {
    const before = this.unanswered.get(this.seq[row]);
    if (before !== undefined) {
      this.kind[before] = 0;
      this.flags[before] = QUIET;
      this.unanswered.delete(this.seq[row]);
    }
    if (this.flags[row] & OPEN) this.unanswered.set(this.seq[row], row);
  }

  private grow(to: number) {
    if (to <= this.at.length) return;
    const room = Math.max(to, this.at.length * 2);
    for (const name of names) {
      const bigger = name === "at" ? new Float64Array(room) : new Int32Array(room);
      bigger.set(this[name].subarray(0, this.length));
      this[name] = bigger;
    }
  }

  /** The row of an event with a number, -1 if there is none. */
  row(seq: number): number {
    if (this.seq[seq - 1] === seq && seq <= this.length) return seq - 1;
    if (!this.bySeq) {
      this.bySeq = new Map();
      for (let i = 0; i < this.length; i++) this.bySeq.set(this.seq[i], i);
    }
    return this.bySeq.get(seq) ?? -1;
  }

  /** The row of the event that caused another, -1 for none. */
  causeOf(row: number): number { return this.cause[row] ? this.row(this.cause[row]) : -1; }

  isKind(row: number, kind: string): boolean { return this.strings[this.kind[row]] === kind; }
  kindOf(row: number): string { return this.strings[this.kind[row]]; }
  methodOf(row: number): string { return (this.methods[this.method[row]] ??= this.strings[this.method[row]].replace(/^.*\//, "")); }
  nodeOf(row: number): string { return this.strings[this.node[row]]; }
  toneOf(row: number): string { return tones[this.flags[row] & 7]; }
  isQuiet(row: number): boolean { return (this.flags[row] & QUIET) !== 0; }
  failed(row: number): boolean { return this.code[row] !== 0 || (this.flags[row] & 7) === 4; }

  async detail(row: number): Promise<Detail> {
    const chunk = this.chunkOf(row);
    return (await this.unpacked(chunk))[row - this.chunks[chunk].from];
  }

  chunkOf(row: number): number {
    let low = 0, high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].from <= row) low = middle; else high = middle - 1;
    }
    return low;
  }

  get chunkCount() { return this.chunks.length; }
  firstOf(chunk: number) { return this.chunks[chunk].from; }

  /** All events of a chunk in full. The chunks that were shown last are cached. */
  unpacked(number: number): Promise<Detail[]> {
    const chunk = this.chunks[number];
    if (!chunk.details) {
      const kept = this.chunks.filter((c) => c.details);
      if (kept.length > 24) kept[0].details = undefined;
      chunk.details = chunk.packed().then(unpack);
      chunk.details.catch(() => { chunk.details = undefined; });
    }
    return chunk.details;
  }

  /** The states between the events of a chunk. */
  states(number: number): Promise<State[]> {
    const chunk = this.chunks[number];
    if (!chunk.between) return Promise.resolve([]);
    if (chunk.states) return chunk.states;
    chunk.states = chunk.between().then((lines) => lines.split("\n").filter((text) => text).map((text) => {
      const [after, line, known] = JSON.parse(text);
      return { after: chunk.from + after, raw: text.slice(text.indexOf(",") + 1, -1), line: line ?? undefined, known };
    }));
    chunk.states.catch(() => { chunk.states = undefined; });
    return chunk.states;
  }

  /** The chunk from which the states have to be replayed for another one, -1 for a trace
   * without states. */
  waitsFrom(number: number): number { return this.chunks[number]?.waits ?? -1; }
}

function unpack(text: string): Detail[] {
  const lines = text.split("\n"), rules: string[] = JSON.parse(lines[0]) ?? [];
  const details: Detail[] = [];
  for (let i = 1; i + 1 < lines.length; i += 2) {
    const [text, outcome, full, kept] = JSON.parse(lines[i + 1]);
    details.push(lazy(lines[i], text, outcome, full ?? undefined, kept ? rules[kept - 1] : "[]"));
  }
  return details;
}

/** Parses a line, and the rules that its call kept, when it is read. */
function lazy(raw: string, text: string, outcome: string, full: Fields | undefined, rules: string): Detail {
  let parsed: Line | undefined;
  return { raw, text, outcome, full, get line() { return (parsed ??= JSON.parse(raw)); }, get kept() { return JSON.parse(rules); } };
}
