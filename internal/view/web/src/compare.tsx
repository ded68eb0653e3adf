import type { Shared } from "./app.tsx";
import { Both } from "./both.tsx";
import type { Difference } from "./report.ts";

/** Two traces side by side, level by level, with the first difference of each. */
export function Compare(shared: Shared) {
  const { report, place, go, other } = shared;
  const { a, b, levels } = report.compare!;
  const chosen = levels.find((l) => l.name === place.object) ?? levels.find((l) => l.first);
  return (
    <>
    <article>
      <h2 class="sentence">{report.sentence}</h2>
      <dl class="facts"><dt>A</dt><dd>{a}</dd><dt>B</dt><dd>{b}</dd></dl>
      <table class="levels">
        <thead><tr><th>Level</th><th>What is compared</th><th class="number">Compared</th><th class="number">Different</th></tr></thead>
        <tbody>{levels.map((l) => (
          <tr key={l.name} class={l === chosen ? "chosen" : ""}>
            <td>{l.first ? <button class="link" aria-pressed={l === chosen} onClick={() => go({ object: l.name })}>{l.name}</button> : l.name}</td>
            <td class="soft">{l.what}</td><td class="number">{l.compared}</td>
            <td class={"number " + (l.differences ? "bad" : l.compared ? "good" : "soft")}>{l.differences || (l.compared ? "equal" : "–")}</td>
          </tr>
        ))}</tbody>
      </table>
    </article>
    {other && <Both {...shared} other={other} chosen={chosen?.name} />}
    {chosen?.first && <article class="first"><First name={chosen.name} difference={chosen.first} /></article>}
    </>
  );
}

function First({ name, difference: d }: { name: string; difference: Difference }) {
  const time = (ms: number, text: string) => (text ? (ms / 1000).toFixed(3) : "");
  return (
    <>
      <h3>First difference of {name} · {d.subject}</h3>
      <p>{d.what}</p>
      <div class="aligned" tabIndex={0} role="region" aria-label="Both traces side by side">
        <table>
          <thead><tr><th class="number">s</th><th>A</th><th class="number">s</th><th>B</th></tr></thead>
          <tbody>{d.rows.map((r, i) => (
            <tr key={i} class={i === d.index ? "here" : r.same ? "same" : "other"}>
              <td class="number soft">{time(r.timeA, r.a)}</td><td>{r.a || "–"}</td>
              <td class="number soft">{time(r.timeB, r.b)}</td><td>{r.b || "–"}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}
