import { useMemo } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { Filters } from "./filters.tsx";
import { EventDetail } from "./detail.tsx";
import { Lanes } from "./lanes-view.tsx";
import { lanesOf } from "./lanes.ts";
import { List } from "./list.tsx";

/** The events, in lanes and as a list, and one event in full. */
export function Timeline(shared: Shared) {
  const lanes = useMemo(() => lanesOf(shared.trace), [shared.trace, shared.trace.length]);
  return (
    <>
      <Filters {...shared} />
      <Lanes {...shared} lanes={lanes} />
      <div class="split">
        <List {...shared} />
        <EventDetail {...shared} />
      </div>
    </>
  );
}
