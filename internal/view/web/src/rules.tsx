import type { Shared } from "./app.tsx";
import { useDetail, usePromise } from "./parts.tsx";
import type { Trace } from "./trace.ts";

/** The rules of the CSI spec that a call broke and kept, as csisim checks them. */
export function Rules({ trace, row, go }: Shared) {
  const d = useDetail(trace, row);
  const seen = usePromise(() => seenOf(trace, row), [trace, row, trace.length]) ?? [];
  if (!trace.isKind(row, "csi") || !d) return null;
  const kept = d.kept;
  const broken: number[] = [];
  for (let i = row + 1; i < Math.min(trace.length, row + 2000); i++) if (trace.cause[i] === trace.seq[row] && /^(violation|remark|unmount|lost)$/.test(trace.kindOf(i))) broken.push(i);
  const count = seen.length + kept.length;
  return (
    <>
      {broken.length > 0 && <ul class="plain findings">{broken.map((i) => <Broken key={i} trace={trace} row={i} go={go} />)}</ul>}
      {count > 0 && (
        <details class="rules" open={broken.length === 0 && count < 3}>
          <summary><span class="good">✓</span> {count} {broken.length > 0 && "other "}{count === 1 ? "rule" : "rules"} of the CSI spec kept</summary>
          <ul class="plain">
            {seen.map((rule) => <li key={rule}>{rule}</li>)}
            {kept.map(([rule, ...fields]) => <li key={rule}>{rule}{fields.length > 0 && <span class="soft">: {fields.join(", ")}</span>}</li>)}
          </ul>
        </details>
      )}
    </>
  );
}

/** Observations about a call, besides its answer, are among the states soon after it. */
async function seenOf(trace: Trace, row: number): Promise<string[]> {
  const found: string[] = [], chunk = trace.chunkOf(row);
  for (let c = chunk; c < Math.min(trace.chunkCount, chunk + 2); c++) for (const { line } of await trace.states(c)) {
    const seen = line?.k === "kept" && (line.obj as { call: number; rule: string });
    if (seen && seen.call === trace.seq[row]) found.push(seen.rule);
  }
  return found;
}

function Broken({ trace, row, go }: { trace: Trace; row: number; go: Shared["go"] }) {
  const d = useDetail(trace, row);
  return <li class={trace.toneOf(row)}><button class="link" onClick={() => go({ at: trace.seq[row] })}>{d?.text}</button></li>;
}
