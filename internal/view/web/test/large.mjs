// How long a trace of many events takes from csisim view to a page that shows all of it, and how smoothly it pans: node large.mjs CHROMIUM CSISIM [EVENTS]
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [program, csisim] = process.argv.slice(2, 4).map((p) => resolve(p)), wanted = Number(process.argv[4] ?? 1_000_000);
const work = mkdtempSync(join(tmpdir(), "csisim-large-"));
try {
  const one = join(work, "one.jsonl"), many = join(work, "many.jsonl");
  execFileSync(csisim, ["run", "scenarios/rwo-filesystem.yaml", "--trace", one], { cwd: resolve("../../.."), stdio: "ignore" });
  await repeat(readFileSync(one, "utf8").trimEnd().split("\n").map((text) => JSON.parse(text)), many);
  console.log(`a trace of       ${(statSync(many).size / 1e6).toFixed(0)} MB`);
  await look(many);
} finally {
  rmSync(work, { recursive: true });
}

/** Writes lifecycles one after the other, each with objects and volumes of its own. */
async function repeat(lines, to) {
  const out = createWriteStream(to), events = lines.filter((l) => l.seq).length, long = lines.at(-1).t + 1000;
  for (let round = 0; round * events < wanted; round++) {
    const own = String(round).padStart(4, "0");
    const text = lines.map((l) => JSON.stringify({ ...l, t: l.t + round * long, ...(l.seq && { seq: l.seq + round * events }), ...(l.cause && { cause: l.cause + round * events }) })
      .replaceAll("vol-0001", "vol-" + own).replaceAll("-4000-8000-", `-${own}-8000-`).replace('"name":"default/', `"name":"default/r${own}-`)).join("\n");
    if (!out.write(text + "\n")) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}

async function look(file) {
  const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  const before = usedBelow(process.pid);
  const began = performance.now(), seconds = () => ((performance.now() - began) / 1000).toFixed(1) + " s";
  const view = spawn(csisim, ["view", file], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address = /http:\S+/.exec(String((await once(view.stdout, "data"))[0]))[0];
    await page.goto(address + "#tab=timeline", { timeout: 120_000, waitUntil: "commit" });
    await there(page, ".lanes canvas");
    await painted(page);
    console.log(`shows events in  ${seconds()}`);
    await there(page, "header .verdict.trace");
    await painted(page);
    console.log(`shows all in     ${seconds()}; csisim used ${used(view.pid).toFixed(1)} s of processors and ${memory(view.pid)} MB, the browser ${(usedBelow(process.pid) - before - used(view.pid)).toFixed(1)} s`);
    for (const [what, key] of [["at first", ""], ["with all in sight", "0"]]) {
      if (key) for (const k of ["0", "+"]) await page.keyboard.press(k);
      console.log(`frames a second  ${(await panned(page)).toFixed(0)} while it pans ${what}`);
    }
  } finally {
    view.kill("SIGINT");
    await once(view, "exit");
    await browser.close();
  }
}

/** Waits for an element without a look in each frame, for which the page would paint frames that nobody else asks for. */
function there(page, selector) {
  return page.evaluate((selector) => new Promise((done) => {
    const look = () => { if (document.querySelector(selector)) done(); };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
    look();
  }), selector);
}

function painted(page) { return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); }

/** The seconds of processor time of a process, and its memory at most. */
function used(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).map(Number);
  return (user + system) / 100;
}
/** The same of all processes that a process has started, and that these have. */
function usedBelow(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter((c) => c);
  return children.reduce((sum, child) => sum + used(child) + usedBelow(child), 0);
}

function memory(pid) { return (Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1000).toFixed(0); }

/** Drags the lanes back and forth for three seconds, and counts frames. */
async function panned(page) {
  const frames = page.evaluate(() => new Promise((done) => {
    const times = [];
    const frame = (now) => { times.push(now); if (now - times[0] < 3000) requestAnimationFrame(frame); else done(times.length * 1000 / (now - times[0])); };
    requestAnimationFrame(frame);
  }));
  const began = performance.now();
  await page.mouse.move(900, 200);
  await page.mouse.down();
  for (let i = 0, at = 900; performance.now() - began < 3000; i++) await page.mouse.move((at += i % 100 < 50 ? -8 : 8), 200);
  await page.mouse.up();
  return frames;
}
