import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Place, read, type Tab, written } from "./address.ts";
import { Cluster } from "./cluster.tsx";
import { Compare } from "./compare.tsx";
import { fitting } from "./filter.ts";
import { useSearch } from "./found.ts";
import { Keys } from "./keys.tsx";
import { follow, type Live } from "./live.ts";
import type { Report } from "./report.ts";
import { Summary } from "./summary.tsx";
import { Timeline } from "./timeline.tsx";
import { span } from "./time.ts";
import type { Trace } from "./trace.ts";

/** The data that all parts of the page share. */
export interface Shared {
  report: Report; trace: Trace; place: Place; shown: Uint8Array;
  isSearching: boolean; // more events may be shown
  row: number; // of the selected instant
  go(change: Partial<Place>): void;
  look(seq: number): void; // selects an event, in the timeline
  live?: Live;
  other?: Trace; // the trace for a comparison
}

export const verdicts = { passed: "Passed", failed: "Failed", error: "Could not run", interrupted: "Interrupted", trace: "Recording", reading: "Reading", live: "Live" };

export function LiveApp({ report }: { report: Report }) {
  const [live, setLive] = useState<Live>();
  useEffect(() => follow(setLive), []);
  if (!live) return <p class="loading">Connecting …</p>;
  if (live.trace.length === 0) return <p class="loading" role="status">{live.problem || "Nothing has happened yet."}</p>;
  return <App report={report} trace={live.trace} live={live} />;
}

export function App({ report, trace, live, other }: { report: Report; trace: Trace; live?: Live; other?: Trace }) {
  const culprit = useMemo(() => culpritOf(report, trace), [report, trace]);
  useMemo(() => { if (culprit >= 0 && trace.isKind(culprit, "csi")) trace.markBad(culprit); }, [culprit, trace]);
  const [place, setPlace] = useState(() => {
    const place = read(location.hash, report.verdict === "live" ? "cluster" : report.compare ? "compare" : "summary");
    return place.at || culprit < 0 || /[#&]at=/.test(location.hash) ? place : { ...place, at: trace.seq[culprit] };
  });
  const go = useCallback((change: Partial<Place>) => setPlace((was) => ({ ...was, ...change })), []);
  useHistory(place, setPlace);
  const [helps, setHelps] = useState(false);
  const found = useSearch(trace, place.filter.q), isSearching = !!place.filter.q && !found?.ended;

  const shown = useMemo(() => fitting(trace, place.filter, found?.rows), [place.filter, found, trace.length]);
  // The address may be of another trace, or of dropped events.
  const isMissing = place.at !== 0 && trace.row(place.at) < 0;
  const row = place.at && !isMissing ? trace.row(place.at) : trace.length - 1;
  const look = useCallback((seq: number) => go({ tab: "timeline", at: seq }), []);
  const shared: Shared = { report, trace, place: isMissing ? { ...place, at: 0 } : place, shown, isSearching, row, go, look, live, other };

  useEffect(() => {
    const press = (e: KeyboardEvent) => keys(e, shared, setHelps);
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });

  const tabs: [Tab, string][] = [["summary", report.verdict === "failed" ? "Why it failed" : "Summary"], ["timeline", "Timeline"], ["cluster", "Cluster"]];
  if (report.compare) tabs.push(["compare", "Compare"]);
  return (
    <>
      <header>
        <span class={"verdict " + report.verdict}>{verdicts[report.verdict]}</span>
        <h1 title={report.name}>{report.name}</h1>
        {live && <span class={"link-state " + (live.problem ? "bad" : "soft")} role="status">{live.problem || "up " + span(live.now)}</span>}
        <nav>
          <div role="tablist" aria-label="Views">
          {tabs.map(([tab, title], i) => (
            <button key={tab} role="tab" id={"tab-" + tab} aria-selected={place.tab === tab} aria-controls="view" title={`${title} (${i + 1})`} onClick={() => go({ tab })}>{title}</button>
          ))}
          </div>
          <button class="help" aria-label="Keys" title="Keys (?)" onClick={() => setHelps(true)}>?</button>
        </nav>
      </header>
      {helps && <Keys close={() => setHelps(false)} />}
      {report.lost && <p class="problem notice" role="alert">{report.lost}</p>}
      {isMissing && report.verdict !== "reading" && <p class="problem notice" role="alert">No event here has the number {place.at}: the address is of another trace, or the event is kept no more. <button class="small" onClick={() => go({ at: 0 })}>Close</button></p>}
      <main id="view" role="tabpanel" aria-labelledby={"tab-" + place.tab} class={place.tab}>
        {place.tab === "summary" && <Summary {...shared} />}
        {place.tab === "timeline" && <Timeline {...shared} />}
        {place.tab === "cluster" && <Cluster {...shared} />}
        {place.tab === "compare" && report.compare && <Compare {...shared} />}
      </main>
    </>
  );
}

/** The event at which a failed run is shown first: the call that was wrong, or the event that shows
 * the failure. -1 for none. */
function culpritOf(report: Report, trace: Trace): number {
  const finding = report.findings?.[0];
  if (!finding || report.verdict === "live" || report.compare) return -1;
  const call = finding.chain?.map((l) => trace.row(l.seq)).filter((row) => row >= 0 && trace.isKind(row, "csi")).at(-1);
  return call ?? (finding.about ? trace.row(finding.about) : -1);
}

/** Places that are closer in time than this, in ms, are one entry of the history. */
const oneLook = 600;

/** Writes the place to the address. Back and Forward walk through the places that were seen. */
function useHistory(place: Place, setPlace: (place: Place) => void) {
  const before = useRef<{ place: Place; since: number }>();
  useEffect(() => {
    const was = before.current, now = performance.now(), address = written(place);
    const isNew = !!was && (was.place.tab !== place.tab || was.place.at !== place.at || was.place.object !== place.object);
    if (location.hash === address) { /* Back or Forward led here */ }
    else if (isNew && now - was.since > oneLook) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
    before.current = { place, since: isNew ? now : was?.since ?? -oneLook };
  }, [place]);
  useEffect(() => {
    const follow = () => setPlace(read(location.hash, "summary"));
    addEventListener("popstate", follow); // also for an address that is typed in
    return () => removeEventListener("popstate", follow);
  }, []);
}

/** The keyboard: moves through time, in both directions, and between views. */
function keys(e: KeyboardEvent, { report, trace, place, shown, row, go, live }: Shared, setHelps: (helps: boolean) => void) {
  const target = e.target as HTMLElement;
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
    if (e.key === "Escape") target.blur();
    return;
  }
  const step = (by: 1 | -1, wanted: (i: number) => boolean = () => true) => {
    const from = place.at || live ? row : by > 0 ? -1 : trace.length; // nothing is chosen yet
    for (let i = from + by; i >= 0 && i < trace.length; i += by) {
      if (shown[i] && wanted(i)) { go({ at: trace.seq[i] }); return; }
    }
  };
  const trouble = (i: number) => trace.failed(i) || trace.toneOf(i) === "wait";
  const tab = (["summary", "timeline", "cluster", ...(report.compare ? ["compare"] as const : [])] as const)[Number(e.key) - 1];
  if (tab) return go({ tab });
  switch (e.key) {
    case "ArrowRight": case "j": step(1); break;
    case "ArrowLeft": case "k": step(-1); break;
    case "n": step(1, trouble); break;
    case "p": step(-1, trouble); break;
    case "?": setHelps(true); break;
    case "Escape": setHelps(false); break;
    case "Home": go({ at: trace.seq[shown.indexOf(1)] || 0 }); break;
    case "End": go({ at: 0 }); break;
    case "/":
      if (place.tab === "timeline") document.getElementById("search")?.focus();
      else { go({ tab: "timeline" }); setTimeout(() => document.getElementById("search")?.focus()); }
      break;
    default: return;
  }
  e.preventDefault();
}
