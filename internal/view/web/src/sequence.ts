import { laneName, pluginOf } from "./lanes.ts";
import { instant } from "./time.ts";
import type { Trace } from "./trace.ts";

/** A message of a sequence diagram; one without a receiver is a note. */
export interface Message { at: string; from: string; to?: string; text: string; answer?: string; failed: boolean }

const longest = 200; // larger diagrams are unreadable

/** The sequence diagram of events: calls to plugins, writes and errors. */
export async function sequence(trace: Trace, rows: number[]): Promise<Message[]> {
  const all: Message[] = [];
  for (const row of rows.slice(0, longest)) {
    const d = await trace.detail(row), from = laneName(trace, row), at = instant(trace.at[row]), failed = trace.failed(row);
    if (trace.isKind(row, "csi")) all.push({ at, from, to: pluginOf(trace, row), text: d.text.replace(/^→ /, ""), answer: d.outcome, failed });
    else if (trace.isKind(row, "api") && from !== "API server") all.push({ at, from, to: "API server", text: d.text, failed });
    else all.push({ at, from, text: (d.text + " " + d.outcome).trim(), failed });
  }
  return all;
}

function actorsOf(messages: Message[]): string[] { return [...new Set(messages.flatMap((m) => (m.to ? [m.from, m.to] : [m.from])))]; }

/** The diagram as Mermaid's text. */
export function mermaid(messages: Message[]): string {
  const actors = actorsOf(messages), id = (name: string) => "p" + actors.indexOf(name);
  const plain = (text: string) => text.replace(/[;#\n]/g, " ").replace(/:/g, "#58;").slice(0, 120);
  const lines = ["sequenceDiagram", ...actors.map((a) => `  participant ${id(a)} as ${plain(a)}`)];
  for (const m of messages) {
    if (!m.to) { lines.push(`  Note over ${id(m.from)}: ${m.at} ${plain(m.text)}`); continue; }
    lines.push(`  ${id(m.from)}->>${id(m.to)}: ${m.at} ${plain(m.text)}`);
    if (m.answer) lines.push(`  ${id(m.to)}--${m.failed ? "x" : ">>"}${id(m.from)}: ${plain(m.answer)}`);
  }
  return lines.join("\n") + "\n";
}

const wide = 190, high = 38, margin = 20;

/** The diagram as a picture, in colours that are legible on any background. */
export function svg(messages: Message[]): string {
  const actors = actorsOf(messages), x = (name: string) => margin + wide / 2 + actors.indexOf(name) * wide;
  const width = 2 * margin + Math.max(2, actors.length) * wide, height = 70 + messages.length * high;
  const cut = (text: string, letters: number) => text.length > letters ? text.slice(0, letters - 1) + "…" : text;
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`];
  for (const a of actors) {
    out.push(`<line x1="${x(a)}" y1="44" x2="${x(a)}" y2="${height - 10}" stroke="#dfe3e8"/>`,
      `<rect x="${x(a) - wide / 2 + 8}" y="12" width="${wide - 16}" height="30" rx="4" fill="#f4f5f7" stroke="#dfe3e8"/>`,
      `<text x="${x(a)}" y="31" text-anchor="middle" fill="#1b222c">${escaped(cut(a, 26))}</text>`);
  }
  messages.forEach((m, i) => {
    const y = 70 + i * high, color = m.failed ? "#b3261e" : "#1b222c", from = x(m.from);
    if (!m.to) {
      out.push(`<text x="${from}" y="${y}" text-anchor="middle" fill="${m.failed ? "#b3261e" : "#5b6674"}">${escaped(m.at + "  " + cut(m.text, 60))}</text>`);
      return;
    }
    const to = x(m.to), way = to >= from ? 1 : -1, answer = m.answer ? "  " + cut(m.answer, 24) : "";
    out.push(`<line x1="${from}" y1="${y}" x2="${to}" y2="${y}" stroke="${color}"/>`, `<path d="M${to} ${y} l${-7 * way} -4 v8 z" fill="${color}"/>`,
      `<text x="${Math.min(from, to) + 8}" y="${y - 5}" fill="${color}">${escaped(m.at + "  " + cut(m.text, 44) + answer)}</text>`);
  });
  return out.join("\n") + "\n</svg>\n";
}

function escaped(text: string): string { return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!); }
