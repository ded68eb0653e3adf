import { useMemo } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { purpose } from "./calls.ts";
import { lanesOf } from "./lanes.ts";
import { Lives } from "./lives.tsx";
import { Copy, ShortPaths, useDetails } from "./parts.tsx";
import type { Finding } from "./report.ts";
import { instant, span } from "./time.ts";
import type { Trace } from "./trace.ts";

/** The first screen: the result, its causes, and the command that repeats the run. */
export function Summary(shared: Shared) {
  const { report } = shared;
  const [first, ...further] = report.findings ?? [];
  return (
    <article>
      {report.problems?.map((p) => <p class="problem" role="alert" key={p}>{p}</p>)}
      {first ? <Why {...shared} finding={first} main /> : <h2 class="sentence">{report.sentence}</h2>}
      {report.replay && (
        <section>
          <h3>See it again</h3>
          <p class="command"><code>{report.replay}</code><Copy text={report.replay} /></p>
        </section>
      )}
      {further.length > 0 && (
        <section>
          <h3>{further.length === 1 ? "Further findings" : `Further findings · ${further.length}`}</h3>
          {further.slice(0, 20).map((f, i) => <Why {...shared} finding={f} key={i} />)}
          {further.length > 20 && <p class="soft">… and {further.length - 20} more; the timeline shows them all.</p>}
        </section>
      )}
      <Covered {...shared} />
    </article>
  );
}

function Why(props: Shared & { finding: Finding; main?: boolean }) {
  const { finding: f, main } = props;
  const same = f.got && f.verdict.endsWith(f.got);
  return (
    <div class={main ? "why main" : "why"}>
      {main ? <h2 class="sentence">{f.short}</h2> : <h4>{f.short}</h4>}
      {f.where && <p class="where">{f.where}</p>}
      <dl class="facts">
        {(f.should || f.expected) && <><dt>Expected</dt><dd>{f.should || f.expected}</dd></>}
        {(f.found || (f.got && !same)) && <><dt>Found</dt><dd class="pre"><Capped text={(f.found || f.got)!} /></dd></>}
      </dl>
      {f.chain && f.chain.length > 0 && <Chain {...props} finding={f} />}
      <dl class="facts">
        {f.blame && <><dt>Blame</dt><dd class="pre">{f.blame}</dd></>}
        {f.hint && <><dt>Hint</dt><dd class="pre">{f.hint}</dd></>}
        {f.spec && <><dt>Spec</dt><dd><a href={f.spec} rel="noreferrer" target="_blank">{f.spec.replace(/^.*\/(spec\.md)/, "CSI $1")}</a></dd></>}
        {f.got && f.got !== f.found && (f.found || (same && !f.short.endsWith(f.got))) && <><dt>In full</dt><dd class="pre full">{f.got}</dd></>}
      </dl>
    </div>
  );
}

const mostLines = 4;

/** The first lines of a text, so that the causes below it stay in view. */
function Capped({ text }: { text: string }) {
  const lines = text.split("\n");
  if (lines.length <= mostLines + 1) return <>{text}</>;
  return (
    <>
      {lines.slice(0, mostLines).join("\n")}
      <details><summary class="soft">{lines.length - mostLines} more</summary>{lines.slice(mostLines).join("\n")}</details>
    </>
  );
}

/** The shortest chain of causes. */
function Chain({ trace, finding, look }: Shared & { finding: Finding }) {
  const links = finding.chain!.filter((l) => trace.row(l.seq) >= 0);
  const rows = links.map((l) => trace.row(l.seq));
  const details = useDetails(trace, rows);
  return (
    <ol class="chain" aria-label="Chain of causes">
      {links.map((link, i) => {
        const d = details[i], row = rows[i], gap = i ? trace.at[row] - trace.at[rows[i - 1]] : 0, method = trace.methodOf(row);
        const explained = rows.findIndex((r) => trace.methodOf(r) === method) === i && purpose[method];
        const end = i === links.length - 1;
        return (
          <li key={link.seq} class={[trace.kindOf(row), trace.toneOf(row), end ? "end" : ""].join(" ")}>
            {gap >= 1000 && <p class="gap">{span(gap)} later</p>}
            <a href={`#tab=timeline&at=${link.seq}`} onClick={(e) => { e.preventDefault(); look(link.seq); }}>
              <span class="at">{instant(trace.at[row])}</span>
              <span class="who">{trace.lanes[trace.lane[row]]}</span>
              <span class="what">{d?.text ?? "…"} {d?.outcome && <span class={"outcome " + outcomeTone(trace, row)}>{d.outcome}</span>}</span>
              <span class="role">{link.why}</span>
            </a>
            {trace.isKind(row, "csi") && explained && <p class="purpose">{explained}</p>}
          </li>
        );
      })}
    </ol>
  );
}

export function outcomeTone(trace: Trace, row: number): string {
  if (trace.failed(row)) return "bad";
  return trace.isKind(row, "csi") ? "good" : trace.toneOf(row);
}

const mostNotes = 12, mostSteps = 60, longestTitle = 160;

/** The content of a trace: its figures, its calls, the lives of its volumes, its steps. */
function Covered({ report, trace, go, look, place }: Shared) {
  const { calls, volumes } = useMemo(() => ({ calls: callsOf(trace), volumes: lanesOf(trace).filter((l) => l.group === "volume") }), [trace, trace.length]);
  const isTimed = [...calls.values()].some((n) => n.longest > 0);
  const filtered = (filter: Partial<Shared["place"]["filter"]>) => go({ tab: "timeline", filter: { ...place.filter, ...filter } });
  return (
    <div class="covered">
      {(report.facts?.length || report.steps || report.notes?.length) && <section>
        <h3>The run</h3>
        <dl class="facts">{report.facts?.map(([name, text]) => <><dt>{name}</dt><dd>{text}</dd></>)}</dl>
        {report.steps && (
          <ol class="steps">
            {report.steps.slice(0, mostSteps).map((s) => (
              <li key={s.number} class={s.state}>
                <span class="mark" aria-label={s.state}>{s.state === "passed" ? "✓" : s.state === "failed" ? "✗" : "·"}</span>
                <span title={s.title}>{s.title.length > longestTitle ? s.title.slice(0, longestTitle) + "…" : s.title}</span><span class="soft">{s.took ? span(s.took) : ""}</span>
              </li>
            ))}
            {report.steps.length > mostSteps && <li><span /><span class="soft">… and {report.steps.length - mostSteps} more steps</span></li>}
          </ol>
        )}
        {report.notes && <div class="notes">{report.notes.slice(0, mostNotes).map((n) => <p class="soft" key={n}><ShortPaths text={n} /></p>)}{report.notes.length > mostNotes && <p class="soft">… and {report.notes.length - mostNotes} more</p>}</div>}
      </section>}
      <section>
        <h3>Driver calls</h3>
        {calls.size === 0 ? <p class="soft">none</p> : (
          <table>
            <thead><tr><th>Call</th><th class="number">OK</th><th class="number">Failed</th>{isTimed && <><th class="number" title="The time of the slowest call, by the clock of the cluster">Longest</th><th class="number" title="The time of all calls together, by the clock of the cluster">In all</th></>}</tr></thead>
            <tbody>{[...calls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([method, n]) => (
              <tr key={method}>
                <td><button class="link" onClick={() => filtered({ call: method, all: true })}>{method}</button></td>
                <td class="number">{n.ok || ""}</td><td class={"number" + (n.failed ? " bad" : "")}>{n.failed || ""}</td>{isTimed && [n.longest, n.total].map((ms) => <td class="number soft">{ms ? span(ms) : ""}</td>)}
              </tr>
            ))}</tbody>
          </table>
        )}
        {volumes.length > 0 && <Lives trace={trace} lanes={volumes} look={look} choose={(volume) => filtered({ volume })} />}
      </section>
    </div>
  );
}

type Calls = { ok: number; failed: number; longest: number; total: number };

/** For each kind of call the numbers of answers and errors, the longest time and the sum. */
function callsOf(trace: Trace): Map<string, Calls> {
  const calls = new Map<string, Calls>(), call = trace.strings.indexOf("csi");
  for (let i = 0; i < trace.length; i++) {
    if (trace.kind[i] !== call) continue;
    const method = trace.methodOf(i);
    if (!calls.has(method)) calls.set(method, { ok: 0, failed: 0, longest: 0, total: 0 });
    const n = calls.get(method)!;
    n[trace.failed(i) ? "failed" : "ok"]++;
    n.longest = Math.max(n.longest, trace.took[i]);
    n.total += trace.took[i];
  }
  return calls;
}
