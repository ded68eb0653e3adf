/** The part of a page about the whole trace. */
export interface Report {
  name: string; verdict: "passed" | "failed" | "error" | "interrupted" | "trace" | "reading" | "live"; sentence: string;
  findings?: Finding[]; steps?: Step[]; replay?: string; facts?: [string, string][]; notes?: string[]; problems?: string[]; end?: number; compare?: Comparison;
  room?: number; // the expected number of events, while a trace is read
  lost?: string; // the reason why the page receives no more answers
}
export interface Link { seq: number; why: string }
export interface Finding {
  verdict: string; short: string; expected?: string; got?: string; should?: string; found?: string; hint?: string; spec?: string; where?: string; blame?: string; about?: number; chain?: Link[];
}
export interface Step { number: number; title: string; state: string; at: number; took: number }

export interface Comparison { a: string; b: string; pairs?: [number, number][]; levels: { name: string; what: string; compared: number; differences: number; first?: Difference }[] }
export interface Difference { subject: string; what: string; index: number; rows: { a: string; b: string; timeA: number; timeB: number; same?: boolean }[] }
