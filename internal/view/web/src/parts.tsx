import { useEffect, useState } from "preact/hooks";
import { Lost } from "./reading.ts";
import type { Detail, Trace } from "./trace.ts";
import type { DiffLine } from "./yaml.ts";

/** An event in full, undefined until it is unpacked. */
export function useDetail(trace: Trace, row: number): Detail | undefined {
  return usePromise(() => (row >= 0 ? trace.detail(row) : undefined), [trace, row, trace.length]);
}

export function useDetails(trace: Trace, rows: number[]): (Detail | undefined)[] {
  return usePromise(() => Promise.all(rows.map((row) => (row >= 0 ? trace.detail(row) : undefined))), [trace, rows.join()]) ?? rows.map(() => undefined);
}

/** The value of a promise. The last value stays until the next one arrives, unless the inputs
 * change. */
export function usePromise<T>(make: () => Promise<T> | undefined, inputs: unknown[]): T | undefined {
  const [value, setValue] = useState<T>();
  useEffect(() => {
    let gone = false;
    make()?.then((v) => gone || setValue(() => v), (problem) => { if (!(problem instanceof Lost)) throw problem; });
    return () => { gone = true; };
  }, inputs);
  return value;
}

/** The value of a promise; undefined if the server has stopped, which the page already shows. */
export async function unlessLost<T>(made: Promise<T>): Promise<T | undefined> {
  try {
    return await made;
  } catch (problem) {
    if (problem instanceof Lost) return undefined;
    throw problem;
  }
}

const longPath = /((?:\/[^\s\/'",;:)\]]+){3,}\/)([^\s\/'",;:)\]]+\/[^\s\/'",;:)\]]+)/g;

/** A text with long paths cut to their ends; pointing at one and copying give the whole path. */
export function ShortPaths({ text }: { text: string }) {
  const parts = text.split(longPath); // text, directory, end, text, …
  return <>{parts.map((part, i) => i % 3 === 0 ? part : i % 3 === 1 && <span key={i} class="long-path" title={part + parts[i + 1]}><span class="dir">{part}</span>{parts[i + 1]}</span>)}</>;
}

export function Copy({ text, label = "Copy" }: { text: string | (() => Promise<string> | string); label?: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    const copied = typeof text === "string" ? text : await unlessLost(Promise.resolve(text()));
    if (copied === undefined) return;
    await write(copied);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return <button class="small" onClick={copy} aria-live="polite">{done ? "Copied" : label}</button>;
}

/** In some browsers, pages from files have no clipboard: then a selection is copied. */
async function write(text: string) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function download(name: string, text: string | Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(text instanceof Blob ? text : new Blob([text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Lines of YAML, with the added and the removed ones marked. */
export function Yaml({ lines, label }: { lines: DiffLine[] | string[]; label: string }) {
  return (
    <pre class="yaml" tabIndex={0} aria-label={label}>
      {lines.map((line, i) => {
        const { text, sign } = typeof line === "string" ? { text: line, sign: " " } : line;
        const found = /^(\s*(?:- )?)([^\s:"][^:]*|"[^"]*")(:)(.*)$/.exec(text);
        const mark = sign === "+" ? "new" : sign === "-" ? "gone" : undefined;
        const content = found ? <>{found[1]}<b>{found[2]}</b>:{found[4]}</> : text;
        return mark === "new" ? <ins key={i}>{content}{"\n"}</ins> : mark === "gone" ? <del key={i}>{content}{"\n"}</del> : <span key={i}>{content}{"\n"}</span>;
      })}
    </pre>
  );
}
