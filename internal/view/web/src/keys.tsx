import { useEffect, useRef } from "preact/hooks";

const all: [string[], string][] = [
  [["1", "2", "3"], "go to a tab"],
  [["←", "→"], "the event before and after"],
  [["p", "n"], "the trouble before and after"],
  [["Home", "End"], "the first event, and the end"],
  [["+", "−", "0"], "zoom in, out, and show all"],
  [["/"], "search"],
  [["?"], "show these keys"],
];

/** The keys of the page. */
export function Keys({ close }: { close: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current!.querySelector("button")!.focus();
    return () => before?.focus();
  }, []);
  return (
    <div class="keys" role="dialog" aria-label="Keys" aria-modal="true" ref={box} onKeyDown={(e) => { if (e.key === "Escape") { e.stopPropagation(); close(); } }}>
      <h2>Keys</h2>
      <dl>{all.map(([keys, does]) => <><dt>{keys.map((k) => <kbd key={k}>{k}</kbd>)}</dt><dd>{does}</dd></>)}</dl>
      <p class="soft">Back and Forward of the browser walk through the events and objects that you looked at.</p>
      <button class="small" onClick={close}>Close</button>
    </div>
  );
}
