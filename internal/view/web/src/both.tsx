import { useMemo, useState } from "preact/hooks";
import { together } from "./aligned.ts";
import type { Place } from "./address.ts";
import type { Shared } from "./app.tsx";
import type { Axis } from "./axis.ts";
import { EventDetail } from "./detail.tsx";
import { everything, fitting } from "./filter.ts";
import { lanesOf } from "./lanes.ts";
import { Lanes, type Sight } from "./lanes-view.tsx";
import type { Mark } from "./paint.ts";
import type { Difference } from "./report.ts";
import type { Trace } from "./trace.ts";

/** The lanes of two traces, one above the other: common events are at the same place, and the
 * first difference of each level is marked in both. */
export function Both(shared: Shared & { other: Trace; chosen?: string }) {
  const { trace, other, report, place, row, go, chosen } = shared;
  const pairs = report.compare!.pairs ?? [];
  const shown = useMemo(() => [fitting(trace, everything), fitting(other, everything)], [trace, other]);
  const lanes = useMemo(() => [lanesOf(trace), lanesOf(other)], [trace, other]);
  const [axisA, axisB] = useMemo(() => together(trace, shown[0], other, shown[1], pairs), [shown]);
  const sight = useState<Sight>({ from: 0, to: 0 });
  const [inB, setInB] = useState(0); // the number of the selected event of B
  const partner = place.at ? pairs.find(([a]) => a === row)?.[1] : undefined;
  const atB = partner !== undefined ? other.seq[partner] : inB;
  const goB = ({ at }: Partial<Place>) => {
    if (at === undefined) return;
    const of = pairs.find(([, b]) => b === other.row(at));
    setInB(at);
    go({ at: of ? trace.seq[of[0]] : 0 });
  };
  const marks = (side: 0 | 1, of: Trace, axis: Axis): Mark[] => report.compare!.levels.filter((l) => l.first).map((l) => ({
    place: placeOf(l.first!, side, of, axis, shown[side]), text: l.name, chosen: l.name === chosen,
  }));
  const marksA = useMemo(() => marks(0, trace, axisA), [axisA, chosen]), marksB = useMemo(() => marks(1, other, axisB), [axisB, chosen]);
  const b: Shared = { ...shared, trace: other, shown: shown[1], row: Math.max(0, other.row(atB)), place: { ...place, at: atB }, go: goB, look: (at) => goB({ at }), other: undefined };
  const a: Shared = { ...shared, shown: shown[0], other: undefined };
  return (
    <section class="both" aria-label="Lanes of both traces">
      <p class="side">A <span class="soft">{report.compare!.a}</span></p>
      <Lanes {...a} lanes={lanes[0]} beside={{ axis: axisA, sight, marks: marksA, name: "A" }} />
      <p class="side">B <span class="soft">{report.compare!.b}</span></p>
      <Lanes {...b} lanes={lanes[1]} beside={{ axis: axisB, sight, marks: marksB, name: "B", second: true }} />
      {(place.at !== 0 || atB !== 0) && <div class="pair">
        {place.at !== 0 ? <EventDetail {...a} /> : <p class="soft none">A has nothing like it.</p>}
        {atB !== 0 ? <EventDetail {...b} /> : <p class="soft none">B has nothing like it.</p>}
      </div>}
    </section>
  );
}

/** The place of a difference: at its time, or, if the event is missing, at the time of the event
 * before it. */
function placeOf(d: Difference, side: 0 | 1, trace: Trace, axis: Axis, shown: Uint8Array): number {
  let i = d.index;
  while (i > 0 && !(side ? d.rows[i].b : d.rows[i].a)) i--;
  const time = side ? d.rows[i].timeB : d.rows[i].timeA;
  let row = 0;
  while (row + 1 < trace.length && (trace.at[row] < time || !shown[row])) row++;
  return axis.place[row];
}
