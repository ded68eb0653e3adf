import type { Shared } from "./app.tsx";
import type { Lane, Span } from "./lanes.ts";
import { instant, span } from "./time.ts";
import type { Trace } from "./trace.ts";

const most = 12, rows: Span["what"][] = ["attached", "staged", "published"];

/** The lives of volumes on nodes over virtual time: attached, staged, published. */
export function Lives({ trace, lanes, choose, look }: { trace: Trace; lanes: Lane[]; choose: (volume: string) => void; look: Shared["look"] }) {
  const shown = [...lanes].sort((a, b) => Number(isLeft(b)) - Number(isLeft(a))).slice(0, most);
  const spans = shown.flatMap((l) => l.spans), end = trace.at[trace.length - 1];
  const from = Math.min(...spans.map((s) => trace.at[s.from])), until = Math.max(from + 1, ...spans.map((s) => timeOf(trace, s.to, end)));
  const x = (at: number) => ((at - from) / (until - from)) * 100;
  return (
    <>
      <h3>Volumes on nodes · {lanes.length}</h3>
      <ul class="plain lives">{shown.map((lane) => (
        <li key={lane.name}>
          <p><button class="link" onClick={() => choose(lane.name.replace(/ on .*$/, ""))}>{lane.name}</button>{isLeft(lane) && <span class="bad"> still mounted</span>}</p>
          <div class="life" role="img" aria-label={wordsOf(trace, lane, end)}>
            {lane.spans.map((s) => <Bar key={s.from + s.what} {...{ trace, s, x, end, look }} />)}
          </div>
        </li>
      ))}</ul>
      <p class="soft legend">{rows.map((what) => <span key={what} class={what} title="The time of all volumes together, by the clock of the cluster">{what} {span(totalOf(trace, lanes, what, end))} in all</span>)}<span>{instant(from)} to {instant(until)}</span></p>
      {lanes.length > most && <p class="soft">… and {lanes.length - most} more: the timeline has a lane for each.</p>}
    </>
  );
}

function Bar({ trace, s, x, end, look }: { trace: Trace; s: Span; x: (at: number) => number; end: number; look: Shared["look"] }) {
  const left = x(trace.at[s.from]), right = x(timeOf(trace, s.to, end)), place = (from: number, to: number) => ({ left: from + "%", width: Math.max(0.6, to - from) + "%" });
  return (
    <>
      <span class={"bar " + s.what} style={place(left, right)} title={titleOf(trace, s, end)} onClick={() => look(trace.seq[s.from])} />
      {s.left !== undefined && <span class={"bar left-behind " + s.what} style={place(x(trace.at[s.left]), right)} title={`still there after ${trace.methodOf(s.left)} at ${instant(trace.at[s.left])}`} onClick={() => look(trace.seq[s.left!])} />}
    </>
  );
}

/** How long all volumes together were in a stage, in ms. */
const totalOf = (trace: Trace, lanes: Lane[], what: Span["what"], end: number) =>
  lanes.flatMap((l) => l.spans).filter((s) => s.what === what).reduce((sum, s) => sum + timeOf(trace, s.to, end) - trace.at[s.from], 0);
const isLeft = (lane: Lane) => lane.spans.some((s) => s.left !== undefined);
const timeOf = (trace: Trace, row: number, end: number) => (row < trace.length ? trace.at[row] : end);
const titleOf = (trace: Trace, s: Span, end: number) => `${s.what} from ${instant(trace.at[s.from])} to ${s.to < trace.length ? instant(trace.at[s.to]) : `the end, ${instant(end)}`}${s.left !== undefined ? ", left behind" : ""}`;
const wordsOf = (trace: Trace, lane: Lane, end: number) => lane.name + ": " + lane.spans.map((s) => titleOf(trace, s, end)).join(", ");
