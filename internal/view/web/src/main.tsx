import { render } from "preact";
import { App, LiveApp } from "./app.tsx";
import type { Report } from "./report.ts";
import { Trace } from "./trace.ts";

async function start() {
  const report: Report = JSON.parse(document.getElementById("report")!.textContent!);
  const root = document.getElementById("app")!;
  if (report.verdict === "live") {
    root.replaceChildren();
    render(<LiveApp report={report} />, root);
    return;
  }
  const trace = new Trace();
  for (const columns of document.querySelectorAll("script.columns")) {
    const details = columns.nextElementSibling!; // most are never looked at, and stay where they are
    await trace.append(columns.textContent!, () => details.textContent!);
    columns.remove();
  }
  root.replaceChildren();
  render(<App report={report} trace={trace} />, root);
}

start().catch((problem) => {
  document.getElementById("app")!.textContent = "This trace cannot be shown: " + (problem instanceof Error ? problem.message : String(problem));
});
