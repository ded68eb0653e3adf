import { Reader } from "./bytes.ts";
import type { Report } from "./report.ts";
import { Trace } from "./trace.ts";

/** The reason for a missing answer. The page shows it, so other code can ignore it. */
export class Lost extends Error {
  constructor(problem: unknown) {
    super(problem instanceof TypeError ? "csisim view has ended. The details of events are read from it: start it again and open its new address." : (problem as Error).message);
  }
}

/** The details of a chunk's events. */
interface Said { details: string; between?: string }

/** Reads the columns of a trace from the server while the server reads its file. Shows the first
 * ones soon, all in the end. */
export async function read(report: Report, show: (report: Report, trace: Trace) => void) {
  const trace = new Trace(report.room), from = new Frames(await asked("columns"));
  let shown = report;
  const say = (now: Report) => show(shown = now, trace);
  const lost = ({ message }: Lost) => { if (shown.lost !== message) say({ ...shown, lost: message }); };
  trace.searched = (text, stop, found) => searched(text, stop, found).catch((problem) => {
    if (stop.aborted) return;
    const why = new Lost(problem);
    lost(why);
    throw why;
  });
  const part = () => from.next().catch((problem) => { // the events so far stay visible
    if (!trace.length) throw new Lost(problem);
    lost(new Lost(problem));
    return new Promise<never>(() => {});
  });
  for (let next = { length: 10_000, time: 0 }; ; ) {
    const columns = await part();
    if (!columns) break;
    const said = saidBy(trace.chunkCount, lost);
    trace.append(columns, async () => (await said()).details, async () => (await said()).between ?? "");
    if (trace.length < next.length || performance.now() < next.time) continue;
    // Each update computes the whole page again.
    next = { length: trace.length * 30, time: performance.now() + 3000 };
    say({ ...report, sentence: `The trace is read: ${trace.length.toLocaleString("en")} events so far.` });
    await new Promise((painted) => setTimeout(painted));
  }
  say(JSON.parse(await from.rest()));
}

async function asked(path: string, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(path, { credentials: "same-origin", signal });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

/** Lets the server find events: rows arrive as differences to the previous ones, a part at a
 * time. */
async function searched(text: string, stop: AbortSignal, found: (row: number) => void) {
  const from = new Frames(await asked("search?q=" + encodeURIComponent(text), stop));
  for (let part = await from.next(); part; part = await from.next()) {
    const numbers = new Reader(part);
    for (let row = 0; !numbers.isAtEnd; ) found(row += numbers.uvarint());
  }
  const problem = JSON.parse(await from.rest());
  if (problem) throw new Error(problem);
}

/** Requests the details of a chunk, with one request for simultaneous callers. lost receives the
 * reason for a missing answer. */
function saidBy(chunk: number, lost: (why: Lost) => void): () => Promise<Said> {
  let asking: Promise<Said> | undefined;
  return () => {
    asking ??= asked("said?chunk=" + chunk).then((a) => a.json()).catch((problem) => {
      const why = new Lost(problem);
      lost(why);
      throw why;
    });
    return asking.finally(() => { asking = undefined; });
  };
}

/** The parts of an answer, each after its length in four bytes; a length of 0 precedes the rest. */
class Frames {
  private parts: Uint8Array[] = [];
  private length = 0;
  private readonly from: ReadableStreamDefaultReader<Uint8Array>;

  constructor(answer: Response) { this.from = answer.body!.getReader(); }

  async next(): Promise<Uint8Array | undefined> {
    const head = await this.take(4), length = new DataView(head.buffer, head.byteOffset).getUint32(0);
    return length ? this.take(length) : undefined;
  }

  async rest(): Promise<string> {
    while (await this.more());
    return new TextDecoder().decode(await this.take(this.length));
  }

  private async more(): Promise<boolean> {
    const { value } = await this.from.read();
    if (value) { this.parts.push(value); this.length += value.length; }
    return !!value;
  }

  private async take(length: number): Promise<Uint8Array> {
    while (this.length < length) if (!(await this.more())) throw new Error("csisim has ended");
    if (this.parts[0]?.length < length) this.parts = [joined(this.parts, this.length)];
    const taken = length ? this.parts[0].subarray(0, length) : new Uint8Array(0), left = this.parts[0]?.subarray(length);
    this.length -= length;
    if (left?.length) this.parts[0] = left; else this.parts.shift();
    return taken;
  }
}

function joined(parts: Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}
