import { useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { chromeTrace, openTelemetry } from "./machines.ts";
import { markdown } from "./markdown.ts";
import { download, unlessLost } from "./parts.tsx";
import { mermaid, sequence, svg } from "./sequence.ts";
import type { Trace } from "./trace.ts";

/** The exports, of the shown events or of all. The trace is already redacted. */
const forms: [string, string, (s: Shared, rows: number[]) => Promise<string>][] = [
  ["Markdown for an issue", "md", markdown],
  ["Sequence diagram, Mermaid", "mmd", async (s, rows) => mermaid(await sequence(s.trace, rows))],
  ["Sequence diagram, SVG", "svg", async (s, rows) => svg(await sequence(s.trace, rows))],
  ["Chrome trace (Perfetto)", "trace.json", ({ trace }, rows) => chromeTrace(trace, rows)],
  ["OpenTelemetry, OTLP JSON", "otlp.json", ({ trace, report }, rows) => openTelemetry(trace, rows, report.name)],
  ["The trace itself, JSON Lines", "jsonl", ({ trace }) => whole(trace)],
];

export function Export(shared: Shared) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [busy, setBusy] = useState(false);
  const take = async (extension: string, make: (s: Shared, rows: number[]) => Promise<string>) => {
    const rows: number[] = [];
    for (let i = 0; i < shared.trace.length; i++) if (shared.shown[i]) rows.push(i);
    menu.current!.open = false;
    setBusy(true);
    const text = await unlessLost(make(shared, rows));
    setBusy(false);
    if (text !== undefined) download(`${shared.report.name.replace(/[^\w.-]+/g, "-")}.${extension}`, text);
  };
  return (
    <details class="take-away" ref={menu} onKeyDown={(e) => { if (e.key === "Escape") menu.current!.open = false; }}>
      <summary aria-busy={busy}>{busy ? "Exporting …" : "Export"}</summary>
      <ul>{forms.map(([title, extension, make]) => <li key={extension}><button class="link" onClick={() => take(extension, make)}>{title}</button></li>)}</ul>
    </details>
  );
}

async function whole(trace: Trace): Promise<string> {
  const lines: string[] = [];
  for (let c = 0, row = 0; c < trace.chunkCount; c++) {
    const states = (await trace.states(c)).filter((s) => s.line);
    for (const d of await trace.unpacked(c)) {
      while (states.length && states[0].after <= row) lines.push(states.shift()!.raw);
      lines.push(d.raw);
      row++;
    }
    for (const s of states) lines.push(s.raw);
  }
  return lines.join("\n") + "\n";
}
