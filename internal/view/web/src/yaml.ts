/** YAML as kubectl prints it: enough for objects and messages, which are JSON. */
export function yaml(value: unknown, indent = ""): string[] {
  if (Array.isArray(value)) {
    if (!value.length) return [indent + "[]"];
    return value.flatMap((item) => {
      const lines = yaml(item, indent + "  ");
      return [indent + "- " + lines[0].trimStart(), ...lines.slice(1)];
    });
  }
  if (value && typeof value === "object") {
    const entries = Object.entries(value).filter(([, v]) => v !== undefined).sort(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1));
    if (!entries.length) return [indent + "{}"];
    return entries.flatMap(([key, v]) => {
      const name = indent + scalar(key) + ":";
      if (isEmpty(v) || v === null || typeof v !== "object") return [name + " " + (isEmpty(v) ? (Array.isArray(v) ? "[]" : "{}") : scalar(v))];
      return [name, ...yaml(v, Array.isArray(v) ? indent : indent + "  ")];
    });
  }
  return [indent + scalar(value)];
}

function isEmpty(v: unknown) { return v !== null && typeof v === "object" && Object.keys(v).length === 0; }
function rank(key: string) { const at = ["apiVersion", "kind", "metadata", "spec", "status"].indexOf(key); return at < 0 ? 2.5 : at; }

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const plain = /^[A-Za-z0-9_./~^][^\n\t]*$/.test(value) && !/: |\s#|:$|\s$/.test(value) && !/^(true|false|null|yes|no|on|off|~|[-+.\d][\d.e+-]*)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}

export interface DiffLine { text: string; sign: " " | "+" | "-" }

/** The added and the removed lines; the longest common subsequence stays. */
export function difference(before: string[], after: string[]): DiffLine[] {
  let start = 0, endA = before.length, endB = after.length;
  while (start < endA && start < endB && before[start] === after[start]) start++;
  while (endA > start && endB > start && before[endA - 1] === after[endB - 1]) { endA--; endB--; }
  const a = before.slice(start, endA), b = after.slice(start, endB);
  const common: number[][] = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  if (a.length * b.length < 250000) {
    for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines: DiffLine[] = after.slice(0, start).map((text) => ({ text, sign: " " }));
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push({ text: b[j], sign: " " }); i++; j++; }
    else if (i < a.length && (j >= b.length || common[i + 1][j] >= common[i][j + 1])) lines.push({ text: a[i++], sign: "-" });
    else lines.push({ text: b[j++], sign: "+" });
  }
  return lines.concat(after.slice(endB).map((text) => ({ text, sign: " " as const })));
}
