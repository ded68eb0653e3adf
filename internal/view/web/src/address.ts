import { everything, type Filter } from "./filter.ts";

export type Tab = "summary" | "timeline" | "cluster" | "compare";

/** The selected view and instant. It is part of the address, after the #. */
// at is the number of an event, 0 for the end.
export interface Place { tab: Tab; at: number; object: string; filter: Filter }

export function read(hash: string, tab: Tab): Place {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  const filter = { ...everything };
  for (const key of ["q", "volume", "node", "object", "call", "lane"] as const) filter[key] = from.get(key) ?? "";
  filter.failures = from.has("failures");
  filter.all = from.has("all");
  const wanted = from.get("tab") as Tab;
  return { tab: ["summary", "timeline", "cluster", "compare"].includes(wanted) ? wanted : tab, at: Number(from.get("at")) || 0, object: from.get("show") ?? "", filter };
}

export function written(p: Place): string {
  const to = new URLSearchParams({ tab: p.tab });
  if (p.at) to.set("at", String(p.at));
  if (p.object) to.set("show", p.object);
  for (const key of ["q", "volume", "node", "object", "call", "lane"] as const) if (p.filter[key]) to.set(key, p.filter[key]);
  if (p.filter.failures) to.set("failures", "");
  if (p.filter.all) to.set("all", "");
  return "#" + to.toString();
}
