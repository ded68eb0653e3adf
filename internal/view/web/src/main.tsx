import { render } from "preact";
import { App, LiveApp } from "./app.tsx";
import { inflate, inflatedText } from "./bytes.ts";
import { read } from "./reading.ts";
import type { Report } from "./report.ts";
import { Trace } from "./trace.ts";

async function start() {
  const report: Report = JSON.parse(document.getElementById("report")!.textContent!);
  const root = document.getElementById("app")!;
  const show = (report: Report, trace: Trace, other?: Trace) => {
    if (root.querySelector(":scope > .loading")) root.replaceChildren();
    render(<App report={report} trace={trace} other={other} />, root);
  };
  if (report.verdict === "live") {
    root.replaceChildren();
    render(<LiveApp report={report} />, root);
    return;
  }
  if (report.verdict === "reading") return read(report, show);
  const trace = new Trace(), other = new Trace(); // the other one of a comparison
  for (const columns of document.querySelectorAll("script.columns")) {
    const details = columns.nextElementSibling!; // most are never shown, and stay in the document
    const between = details.nextElementSibling?.classList.contains("between") ? details.nextElementSibling : undefined;
    (columns.classList.contains("other") ? other : trace).append(
      await inflate(columns.textContent!), () => inflatedText(details.textContent!), between && (() => inflatedText(between.textContent!)));
    columns.remove();
  }
  show(report, trace, other.length ? other : undefined);
}

start().catch((problem) => {
  document.getElementById("app")!.textContent = "This trace cannot be shown: " + (problem instanceof Error ? problem.message : String(problem));
});
