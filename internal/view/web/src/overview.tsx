import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Sight } from "./lanes-view.tsx";
import type { Axis } from "./axis.ts";
import type { Trace } from "./trace.ts";

const height = 26;

/** The whole run in one strip: how much happens, pauses, trouble, and the part that the lanes show,
 * which can be dragged. */
export function Overview({ trace, axis, shown, labels, width, sight, setView }: { trace: Trace; axis: Axis; shown: Uint8Array; labels: number; width: number; sight: Sight; setView: (sight: Sight) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null), isDragged = useRef(false);
  const room = Math.max(1, Math.round(width - labels)), scale = room / Math.max(1, axis.width);
  const columns = useMemo(() => {
    const events = new Uint16Array(room), trouble = new Uint8Array(room);
    for (let i = 0; i < trace.length; i++) {
      if (!shown[i]) continue;
      const x = Math.min(room - 1, Math.floor(axis.place[i] * scale));
      if (events[x] < 65535) events[x]++;
      if (trace.failed(i)) trouble[x] = 2; else if (trace.toneOf(i) === "wait" && !trouble[x]) trouble[x] = 1;
    }
    return { events, trouble, most: events.reduce((a, b) => Math.max(a, b), 1) };
  }, [trace, axis, shown, room]);
  useEffect(() => {
    const draw = () => paint(canvas.current!, columns, axis, sight, labels, width, scale);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    draw();
    scheme.addEventListener("change", draw);
    return () => scheme.removeEventListener("change", draw);
  });
  const center = (e: PointerEvent) => {
    const wide = sight.to - sight.from, left = Math.max(0, Math.min(axis.width - wide, (e.offsetX - labels) / scale - wide / 2));
    setView({ from: left, to: left + wide });
  };
  return (
    <canvas class="overview" ref={canvas} aria-hidden="true" style={{ height: height + "px" }}
      onPointerDown={(e) => { isDragged.current = true; canvas.current!.setPointerCapture(e.pointerId); center(e); }}
      onPointerMove={(e) => { if (isDragged.current) center(e); }} onPointerUp={() => { isDragged.current = false; }} />
  );
}

function paint(canvas: HTMLCanvasElement, { events, trouble, most }: { events: Uint16Array; trouble: Uint8Array; most: number }, axis: Axis, sight: Sight, labels: number, width: number, scale: number) {
  const ratio = devicePixelRatio || 1, style = getComputedStyle(canvas), color = (name: string) => style.getPropertyValue("--" + name).trim();
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  const c = canvas.getContext("2d")!;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = color("ground");
  c.fillRect(0, 0, width, height);
  c.font = "12px " + style.fontFamily;
  c.textBaseline = "middle";
  c.fillStyle = color("soft");
  c.fillText("whole run", 12, height / 2);
  c.fillStyle = color("line");
  for (const pause of axis.pauses) c.fillRect(labels + pause.from * scale, 0, Math.max(1, (pause.to - pause.from) * scale), height);
  const inks = [color("soft"), color("wait"), color("bad")];
  for (let x = 0; x < events.length; x++) {
    if (!events[x]) continue;
    const high = trouble[x] === 2 ? height - 4 : 4 + (height - 10) * Math.sqrt(events[x] / most);
    c.fillStyle = inks[trouble[x]];
    c.fillRect(labels + x, height - 2 - high, trouble[x] === 2 ? 2 : 1, high);
  }
  const left = labels + sight.from * scale, wide = Math.max(6, (sight.to - sight.from) * scale);
  c.fillStyle = color("accent");
  c.globalAlpha = 0.12;
  c.fillRect(left, 0, wide, height);
  c.globalAlpha = 1;
  c.strokeStyle = color("accent");
  c.strokeRect(left + 0.5, 0.5, Math.min(wide, width - left) - 1, height - 1);
}
