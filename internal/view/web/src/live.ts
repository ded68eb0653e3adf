import { inflate, inflatedText } from "./bytes.ts";
import { Trace } from "./trace.ts";

/** The last known state of a live cluster. */
export interface Live { trace: Trace; now: number; mounts: { node: string; target: string; source: string }[]; problem: string }

interface News { epoch: number; chunks: { columns: string; details: string; between?: string }[]; now: number; mounts: Live["mounts"] }

/** Requests news from the server, once a second, until stopped. */
export function follow(heard: (live: Live) => void): () => void {
  let stopped = false, epoch = 0, live: Live = { trace: new Trace(), now: 0, mounts: [], problem: "" };
  const ask = async () => {
    try {
      const answer = await fetch(`news?epoch=${epoch}&chunks=${live.trace.chunkCount}`, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(answer.status === 401 ? "open the address that csisim printed" : await answer.text());
      const news: News = await answer.json();
      const trace = news.epoch === epoch ? live.trace : new Trace();
      epoch = news.epoch;
      for (const chunk of news.chunks) {
        const { details, between } = chunk;
        trace.append(await inflate(chunk.columns), () => inflatedText(details), between ? () => inflatedText(between) : undefined);
      }
      live = { trace, now: news.now, mounts: news.mounts, problem: "" };
    } catch (problem) {
      live = { ...live, problem: problem instanceof TypeError ? "the cluster has stopped" : (problem as Error).message };
    }
    if (stopped) return;
    heard(live);
    setTimeout(ask, 1000);
  };
  ask();
  return () => { stopped = true; };
}
