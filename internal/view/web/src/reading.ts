import type { Report } from "./report.ts";
import { Trace } from "./trace.ts";

/** What the events of a chunk say. */
interface Said { details: string; between?: string }

/** Reads the columns of a trace from the server while that reads its file, and shows them: some soon, all in the end. */
export async function read(report: Report, show: (report: Report, trace: Trace) => void) {
  const trace = new Trace(), from = new Frames(await asked("columns"));
  for (let next = 10_000; ; ) {
    const columns = await from.next();
    if (!columns) break;
    const said = saidBy(trace.chunkCount);
    trace.append(columns, async () => (await said()).details, async () => (await said()).between ?? "");
    if (trace.length < next) continue;
    next = trace.length * 30; // what is shown is computed anew each time
    show({ ...report, sentence: `The trace is read: ${trace.length.toLocaleString("en")} events so far.` }, trace);
    await new Promise((painted) => setTimeout(painted));
  }
  show(JSON.parse(await from.rest()), trace);
}

async function asked(path: string): Promise<Response> {
  const answer = await fetch(path, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

/** Asks what a chunk says, once for all who ask at a time. */
function saidBy(chunk: number): () => Promise<Said> {
  let asking: Promise<Said> | undefined;
  return () => {
    asking ??= asked("said?chunk=" + chunk).then((a) => a.json());
    return asking.finally(() => { asking = undefined; });
  };
}

/** Parts of an answer, each after its length in four bytes; after a length of 0 comes the rest. */
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
