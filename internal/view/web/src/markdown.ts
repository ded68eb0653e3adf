import type { Shared } from "./app.tsx";
import { instant } from "./time.ts";

/** Events as text for an issue. Secrets are redacted in the trace itself. */
export async function markdown({ trace, report }: Pick<Shared, "trace" | "report">, rows: number[]): Promise<string> {
  const lines: string[] = [];
  for (const row of rows) {
    const d = await trace.detail(row);
    lines.push(`| ${instant(trace.at[row])} | ${cell(trace.lanes[trace.lane[row]])} | ${cell(d.text)} | ${cell(d.outcome)} |`);
  }
  const finding = report.findings?.[0];
  return [
    `### ${report.name}: ${report.sentence}`, "",
    ...(finding ? [finding.verdict, ""] : []),
    "| time | component | event | outcome |", "| ---: | --- | --- | --- |", ...lines, "",
    ...(report.replay ? ["```sh", report.replay, "```", ""] : []),
  ].join("\n");
}

function cell(text: string): string { return text.replaceAll("|", "\\|").replaceAll("\n", " "); }
