import { laneName } from "./lanes.ts";
import type { Trace } from "./trace.ts";

/** Events for chrome://tracing and ui.perfetto.dev: a thread a lane, in virtual microseconds. */
export async function chromeTrace(trace: Trace, rows: number[]): Promise<string> {
  const lanes = [...new Set(rows.map((r) => laneName(trace, r)))];
  const events: object[] = lanes.map((name, i) => ({ ph: "M", name: "thread_name", pid: 1, tid: i + 1, args: { name } }));
  for (const row of rows) {
    const d = await trace.detail(row), call = trace.isKind(row, "csi");
    events.push({
      ph: call ? "X" : "i", name: call ? trace.methodOf(row) : d.text, cat: trace.kindOf(row), ts: trace.at[row] * 1000, pid: 1, tid: lanes.indexOf(laneName(trace, row)) + 1,
      ...(call ? { dur: Math.max(1, trace.took[row] * 1000) } : { s: "t" }), args: { ...d.line },
    });
  }
  return JSON.stringify({ displayTimeUnit: "ms", traceEvents: events });
}

interface Value { stringValue?: string; intValue?: string }

/** Calls as spans, other events as span events of the run, in OTLP's JSON. Time begins at 0. */
export async function openTelemetry(trace: Trace, rows: number[], name: string): Promise<string> {
  const traceId = await id(name, 16), run = await id(name + " run", 8);
  const nano = (ms: number) => String(BigInt(Math.round(ms)) * 1000000n);
  const attributes = (fields: Record<string, string | number | undefined>) => Object.entries(fields).filter(([, v]) => v !== undefined && v !== "")
    .map(([key, v]): { key: string; value: Value } => ({ key, value: typeof v === "number" ? { intValue: String(v) } : { stringValue: v } }));
  const spans: object[] = [], events: object[] = [];
  for (const row of rows) {
    const d = await trace.detail(row), l = d.line;
    if (!trace.isKind(row, "csi")) {
      events.push({ timeUnixNano: nano(l.t), name: d.text, attributes: attributes({ "csisim.kind": l.k, "csisim.actor": l.from, "k8s.node.name": l.node }) });
      continue;
    }
    spans.push({
      traceId, spanId: await id(name + " " + trace.seq[row], 8), parentSpanId: run, name: l.m, kind: 3, startTimeUnixNano: nano(l.t), endTimeUnixNano: nano(l.t + (l.ms ?? 0)),
      attributes: attributes({ "rpc.system": "grpc", "rpc.method": l.m, "csisim.seq": trace.seq[row], "csisim.caller": l.from, "k8s.node.name": trace.nodeOf(row), "csi.driver": l.driver, "csi.volume": trace.volumes[trace.volume[row]]?.id }),
      status: l.code ? { code: 2, message: `${l.code}: ${l.msg ?? ""}` } : { code: 1 },
    });
  }
  const end = nano(trace.length ? trace.at[trace.length - 1] : 0);
  spans.unshift({ traceId, spanId: run, name, kind: 1, startTimeUnixNano: "0", endTimeUnixNano: end, events, status: {} });
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributes({ "service.name": "csisim" }) }, scopeSpans: [{ scope: { name: "csisim" }, spans }] }] });
}

/** An id that is the same for equal texts: FNV-1a, which does not need a secure context. */
async function id(text: string, bytes: number): Promise<string> {
  let out = "";
  for (let part = 0; out.length < bytes * 2; part++) {
    let hash = 0x811c9dc5 ^ part;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    out += (hash >>> 0).toString(16).padStart(8, "0");
  }
  return out.slice(0, bytes * 2);
}
