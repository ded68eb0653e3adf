import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { Axis } from "./axis.ts";
import { folded, type Lane } from "./lanes.ts";
import { Overview } from "./overview.tsx";
import { type Mark, paint, type Picture, rowHeight, shownLanes } from "./paint.ts";
import { instant } from "./time.ts";

/** The visible part of an axis; 0, 0 is all of it. */
export interface Sight { from: number; to: number }

/** Lanes above or below others: the parts that they share. */
interface Beside { axis: Axis; sight: [Sight, (sight: Sight) => void]; marks: Mark[]; name: string; second?: boolean }

/** The lanes over virtual time. The list next to it has the same content for screen readers. */
export function Lanes(props: Shared & { lanes: Lane[]; beside?: Beside }) {
  const { beside } = props;
  const { trace, shown, row, place, go } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const axis = useMemo(() => beside?.axis ?? new Axis(trace, shown), [trace, shown, trace.length, beside?.axis]);
  const [size, setSize] = useState({ width: 800, height: 200 });
  const alone = useState<Sight>({ from: 0, to: 0 });
  const [view, setView] = beside?.sight ?? alone;
  const [top, setTop] = useState(0);
  const [hover, setHover] = useState<{ x: number; y: number; row: number; text: string }>();
  const drag = useRef<{ x: number; from: number; to: number; moved: boolean }>();

  const labels = size.width < 700 ? 110 : 190;
  const room = size.width - labels;
  const widest = Math.max(axis.width, 1);
  const most = Math.min(widest, Math.max(8, room / 9)); // the smallest initial width of a place
  const to = view.to || (place.at ? widest : Math.min(widest, Math.max(most, widest <= room / 4 ? widest : most)));
  const from = view.to ? view.from : Math.max(0, to - Math.max(most, Math.min(widest, room / 4)));
  const [isWhole, setWhole] = useState(false);
  const visible = useMemo(() => shownLanes(props.lanes, shown, trace), [props.lanes, shown]);
  const lanes = useMemo(() => (isWhole ? visible : folded(visible)), [visible, isWhole]);
  const full = lanes.length * rowHeight;
  const height = Math.min(Math.max(full + 22, 80), Math.max(160, Math.round(innerHeight * (beside ? 0.3 : 0.47))));
  const scale = room / (to - from || 1);
  const picture: Picture = { trace, axis, lanes, shown, row: place.at ? row : -1, from, scale, labels, width: size.width, height, top, marks: beside?.marks };
  const latest = useRef(picture);
  latest.current = picture;

  useEffect(() => {
    const element = canvas.current!.parentElement!;
    const measure = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    measure.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const again = () => paint(canvas.current!, latest.current);
    scheme.addEventListener("change", again);
    return () => { measure.disconnect(); scheme.removeEventListener("change", again); };
  }, []);
  useEffect(() => { // one picture a frame
    const frame = requestAnimationFrame(() => paint(canvas.current!, picture));
    return () => cancelAnimationFrame(frame);
  });
  useEffect(() => { setView({ from: 0, to: 0 }); setTop(0); }, [axis]);
  useEffect(() => { // scrolls to the selected event
    if (!place.at) return;
    const x = axis.place[row];
    if (x < from || x > to) setView({ from: x - (to - from) / 2, to: x + (to - from) / 2 });
  }, [row, axis]);

  const zoom = (factor: number, around = (from + to) / 2) => {
    const width = Math.min(widest, Math.max(6, (to - from) * factor));
    const left = Math.max(0, Math.min(widest - width, around - ((around - from) / (to - from)) * width));
    setView({ from: left, to: left + width });
  };
  const pan = (by: number) => {
    const left = Math.max(0, Math.min(widest - (to - from), from + by));
    setView({ from: left, to: left + (to - from) });
  };
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      if (beside?.second || /^(INPUT|SELECT|TEXTAREA)$/.test((e.target as HTMLElement).tagName)) return;
      if (e.key === "+" || e.key === "=") zoom(0.6, place.at ? axis.place[row] : undefined);
      else if (e.key === "-") zoom(1.7, place.at ? axis.place[row] : undefined);
      else if (e.key === "0") setView({ from: 0, to: widest });
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  useEffect(() => { // wheel events that are not passive
    const element = canvas.current!;
    const wheel = (e: WheelEvent) => {
      const at = latest.current;
      if (e.ctrlKey || e.metaKey) { e.preventDefault(); zoom(e.deltaY > 0 ? 1.25 : 0.8, at.from + (e.offsetX - at.labels) / at.scale); }
      else if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) { e.preventDefault(); pan((e.deltaX || e.deltaY) / at.scale); }
      else if (full + 22 > height) { e.preventDefault(); setTop((t) => Math.max(0, Math.min(full + 22 - height, t + e.deltaY))); }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  /** The event at a point of the canvas, -1 for none. */
  const at = (x: number, y: number): number => {
    const lane = lanes[Math.floor((y + top - 22) / rowHeight)];
    if (!lane || x < labels || y < 22) return -1;
    const want = from + (x - labels) / scale;
    let best = -1, near = Math.max(10 / scale, 0.5);
    for (const r of lane.rows.length ? lane.rows : lane.spans.map((s) => s.from)) {
      if (!shown[r] && lane.group !== "volume") continue;
      const d = Math.abs(axis.place[r] - want);
      if (d < near) { near = d; best = r; }
    }
    if (best < 0) for (const s of lane.spans) if (axis.place[s.from] <= want && (s.to >= trace.length ? axis.width : axis.place[s.to]) >= want) best = s.from;
    return best;
  };
  const down = (e: PointerEvent) => { drag.current = { x: e.offsetX, from, to, moved: false }; canvas.current!.setPointerCapture(e.pointerId); };
  const move = (e: PointerEvent) => {
    const d = drag.current;
    if (d) {
      if (Math.abs(e.offsetX - d.x) > 3) d.moved = true;
      if (d.moved) { const left = Math.max(0, Math.min(widest - (d.to - d.from), d.from - (e.offsetX - d.x) / scale)); setView({ from: left, to: left + d.to - d.from }); }
      return;
    }
    const found = at(e.offsetX, e.offsetY);
    if (found < 0) { setHover(undefined); return; }
    if (hover?.row !== found) trace.detail(found).then((detail) => setHover({ x: e.offsetX, y: e.offsetY, row: found, text: `${instant(trace.at[found])}  ${detail.text}  ${detail.outcome}` }));
  };
  const up = (e: PointerEvent) => {
    const d = drag.current;
    drag.current = undefined;
    if (!d || d.moved) return;
    const found = at(e.offsetX, e.offsetY);
    if (found >= 0) go({ at: trace.seq[found] });
    else if (e.offsetX < labels) {
      const lane = lanes[Math.floor((e.offsetY + top - 22) / rowHeight)];
      if (lane?.folds) setWhole(true);
      else if (lane && trace.lanes.includes(lane.name)) go({ filter: { ...place.filter, lane: place.filter.lane === lane.name ? "" : lane.name } });
    }
  };
  return (
    <>
    {!beside && <Overview {...{ trace, axis, shown, labels, width: size.width, sight: { from, to }, setView }} />}
    <div class="lanes" style={{ height: height + "px" }}>
      <canvas ref={canvas} role="img" aria-label={`Lanes${beside ? " of " + beside.name : ""}: ${lanes.map((l) => l.name).join(", ")}. The list of events below has the same content.`}
        onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => setHover(undefined)} class={hover ? "hot" : ""} />
      {!beside?.second && <div class="zoom">
        {(isWhole || lanes.some((l) => l.folds)) && <button class="small" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>{isWhole ? "fold lanes" : "all lanes"}</button>}
        <button class="small" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoom(0.6)}>+</button>
        <button class="small" aria-label="Zoom out" title="Zoom out (−)" onClick={() => zoom(1.7)}>−</button>
        <button class="small" aria-label="Show all" title="Show all (0)" onClick={() => setView({ from: 0, to: widest })}>all</button>
      </div>}
      {hover && <p class="hover" style={{ left: Math.min(hover.x + 12, size.width - 320) + "px", top: Math.min(hover.y + 16, height - 30) + "px" }}>{hover.text}</p>}
    </div>
    </>
  );
}
