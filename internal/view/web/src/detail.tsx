import type { Shared } from "./app.tsx";
import { Around } from "./around.tsx";
import { purpose, section } from "./calls.ts";
import { objectName } from "./filter.ts";
import { pluginOf } from "./lanes.ts";
import { Copy, useDetail, useDetails, usePromise, Yaml } from "./parts.tsx";
import { Rules } from "./rules.tsx";
import { objectAt } from "./state.ts";
import { outcomeTone } from "./summary.tsx";
import { instant, span } from "./time.ts";
import { INJECTED, type Fields } from "./trace.ts";
import { difference, yaml } from "./yaml.ts";
import { markdown } from "./markdown.ts";

/** One event in full. */
export function EventDetail(shared: Shared) {
  const { trace, row, place, go } = shared;
  const d = useDetail(trace, row);
  if (!place.at && place.tab === "timeline") {
    return <aside class="detail" aria-label="Event" tabIndex={0}><p class="soft none">Choose an event: click, or step with <kbd>←</kbd> <kbd>→</kbd>. <kbd>n</kbd> and <kbd>p</kbd> go to the next and the previous trouble, <kbd>+</kbd> and <kbd>−</kbd> zoom.</p></aside>;
  }
  if (!d || d.line.t !== trace.at[row]) return <aside class="detail" aria-label="Event" tabIndex={0} />;
  const l = d.line, method = trace.methodOf(row), call = l.k === "csi";
  const volume = trace.volumes[trace.volume[row]]?.label, object = trace.object[row] ? objectName(trace.objects[trace.object[row]]) : "";
  return (
    <aside class="detail" aria-label="Event" tabIndex={0}>
      <h2 class={trace.toneOf(row)}>{d.text}</h2>
      {d.outcome && <p class={"outcome " + outcomeTone(trace, row)}>{d.outcome}</p>}
      {call && purpose[method] && <p class="soft">{purpose[method]} <a href={section(method)} target="_blank" rel="noreferrer">CSI spec</a></p>}
      <dl class="facts">
        <dt>When</dt><dd>{instant(l.t)}{l.ms ? `, took ${span(l.ms)}` : ""}</dd>
        <dt>Who</dt><dd>{trace.lanes[trace.lane[row]]}{call && <> → {pluginOf(trace, row)}</>}{l.release && <> of release {l.release}</>}{l.from?.includes("/") && <span class="soft"> {l.from}</span>}</dd>
        {l.at && <><dt>Real time</dt><dd>{l.at}</dd></>}
        {l.src && <><dt>Log</dt><dd>{l.src}</dd></>}
        {volume && <><dt>Volume</dt><dd><button class="link" onClick={() => go({ filter: { ...place.filter, volume } })}>{volume}</button> <span class="soft">{trace.volumes[trace.volume[row]].id}</span></dd></>}
        {object && <><dt>{call ? "Pod" : "Object"}</dt><dd><button class="link" onClick={() => go({ tab: "cluster", object, at: trace.seq[row] })}>{object}</button></dd></>}
        {(trace.flags[row] & INJECTED) !== 0 && <><dt>Fault</dt><dd class="wait">{l.inj}</dd></>}
      </dl>
      <Attempts {...shared} />
      <Rules {...shared} />
      <Around {...shared} />
      {l.k === "api" && <Change {...shared} />}
      {l.req && <Block title="Request" value={l.req} />}
      {l.resp && <Block title="Answer" value={l.resp} />}
      {l.code && <><h3>Error</h3><p class="pre bad">{l.code}: {l.msg}</p></>}
      {!l.code && l.msg && l.k !== "api" && !d.text.includes(l.msg) && <p class="pre message">{l.msg}</p>}
      {l.obj !== undefined && l.k !== "api" && l.k !== "event" && <Block title="Content" value={l.obj as Fields} />}
      <Causes {...shared} />
      <p class="take"><Copy text={d.raw} label="Copy line of the trace" /> <Copy text={() => markdown(shared, [row])} label="Copy as Markdown" /></p>
    </aside>
  );
}

function Block({ title, value }: { title: string; value: Fields }) {
  const lines = yaml(value);
  return <><h3>{title}</h3>{lines[0] === "{}" ? <p class="soft">empty</p> : <Yaml lines={lines} label={title} />}</>;
}

/** The changed parts of an object. */
function Change({ trace, row }: Shared) {
  const state = usePromise(() => objectAt(trace, trace.object[row], row), [trace, row]);
  if (!state || state.row !== row) return null;
  const before = state.before ? yaml(state.before) : [], after = state.after ? yaml(state.after) : [];
  const all = difference(before, after);
  const near = all.filter((line, i) => line.sign !== " " || all.slice(Math.max(0, i - 2), i + 3).some((l) => l.sign !== " ") || /^\S/.test(line.text));
  return <><h3>{!state.after ? "Gone" : !state.before ? "Created" : "Changed"}</h3><Yaml lines={near.length ? near : after} label="Change" /></>;
}

/** A call with retries: all of its attempts. */
function Attempts({ trace, row, go }: Shared) {
  if (!trace.isKind(row, "csi")) return null;
  const first = row - trace.first[row];
  const all = [first];
  for (let i = first + 1; i < trace.length && all.length < 200; i++) if (trace.first[i] && i - trace.first[i] === first) all.push(i);
  if (all.length < 2) return null;
  return (
    <>
      <h3>{all.length} attempts</h3>
      <ol class="attempts">{all.map((i) => (
        <li key={i}><button class={"small" + (i === row ? " on" : "") + (trace.code[i] ? " bad" : " good")} onClick={() => go({ at: trace.seq[i] })} title={instant(trace.at[i])}>{trace.strings[trace.code[i]] || "OK"}</button></li>
      ))}</ol>
    </>
  );
}

/** The causes of an event, back to the first one, and its effects. */
function Causes({ trace, row, go }: Shared) {
  const back: number[] = [];
  for (let i = trace.causeOf(row); i >= 0 && back.length < 8; i = trace.causeOf(i)) back.push(i);
  const on: number[] = [];
  for (let i = row + 1; i < Math.min(trace.length, row + 5000) && on.length < 6; i++) if (trace.cause[i] === trace.seq[row]) on.push(i);
  const texts = useDetails(trace, [...back, ...on]);
  const line = (i: number, k: number) => (
    <li key={i}><button class="link" onClick={() => go({ at: trace.seq[i] })}><span class="at">{instant(trace.at[i])}</span> {texts[k]?.text}</button></li>
  );
  return (
    <>
      {back.length > 0 && <><h3>Because of</h3><ol class="plain causes">{back.map(line)}</ol></>}
      {on.length > 0 && <><h3>Led to</h3><ol class="plain causes">{on.map((i, k) => line(i, back.length + k))}</ol></>}
    </>
  );
}
