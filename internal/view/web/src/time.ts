/** A duration in words; the same words as in csisim's own output. */
export function span(ms: number): string {
  if (ms < 1000) return Math.round(ms) + " ms";
  if (ms < 59950) return (ms / 1000).toFixed(1).replace(/\.0$/, "") + " s";
  if (ms < 3600000) return rest(Math.round(ms / 1000), 60, "min", "s");
  return rest(Math.round(ms / 60000), 60, "h", "min");
}

function rest(n: number, of: number, name: string, smaller: string): string {
  const left = n % of;
  return Math.floor(n / of) + " " + name + (left ? ` ${left} ${smaller}` : "");
}

/** An instant: seconds since the run began. */
export function instant(ms: number): string { return (ms / 1000).toFixed(3) + " s"; }
