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
  for (const chunk of document.querySelectorAll("script.chunk")) {
    const [columns, details] = chunk.textContent!.split(" ");
    await trace.append(columns, details);
    chunk.remove();
  }
  root.replaceChildren();
  render(<App report={report} trace={trace} />, root);
}

start().catch((problem) => {
  document.getElementById("app")!.textContent = "This trace cannot be shown: " + (problem instanceof Error ? problem.message : String(problem));
});
