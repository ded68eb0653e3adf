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
  const trace = new Trace(), other = new Trace(); // the other one of two that are compared
  for (const columns of document.querySelectorAll("script.columns")) {
    const details = columns.nextElementSibling!; // most are never looked at, and stay where they are
    const between = details.nextElementSibling?.classList.contains("between") ? details.nextElementSibling : undefined;
    await (columns.classList.contains("other") ? other : trace).append(columns.textContent!, () => details.textContent!, between && (() => between.textContent!));
    columns.remove();
  }
  root.replaceChildren();
  render(<App report={report} trace={trace} other={other.length ? other : undefined} />, root);
}

start().catch((problem) => {
  document.getElementById("app")!.textContent = "This trace cannot be shown: " + (problem instanceof Error ? problem.message : String(problem));
});
