// The pictures of the documentation: node screenshots.mjs CHROMIUM CSISIM DIRECTORY, from real runs.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [program, csisim, to] = process.argv.slice(2).map((p) => resolve(p));
const root = resolve("../../..");
const pictures = [ // name, scenario, view, height, how many times to go on to the next trouble, or to which call
  ["leak", "internal/view/web/test/leak.yaml", "tab=summary", 760, 0],
  ["leak-timeline", "internal/view/web/test/leak.yaml", "tab=timeline", 860, 5],
  ["multi-attach", "scenarios/golden/multi-attach.yaml", "tab=timeline", 860, 1],
  ["force-detach", "scenarios/force-detach.yaml", "tab=timeline", 860, "ControllerUnpublishVolume"],
];
const work = mkdtempSync(join(tmpdir(), "csisim-pictures-"));
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] });
for (const [name, scenario, view, height, next] of pictures) {
  const report = join(work, name + ".html"), trace = join(work, name + ".jsonl");
  try { execFileSync("csisim", ["run", scenario, "--report", report, "--trace", trace], { stdio: "pipe", cwd: root, env: { ...process.env, PATH: dirname(csisim) + delimiter + process.env.PATH } }); } catch (e) { if (e.status !== 1) throw e; } // 1: it failed, as it should
  const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme: "light" });
  const call = readFileSync(trace, "utf8").trimEnd().split("\n").map((text) => JSON.parse(text)).find((line) => line.m?.endsWith("/" + next));
  await page.goto("file://" + report + "#" + view + (call ? "&at=" + call.seq : ""));
  await page.waitForSelector("header");
  if (next > 0) await page.keyboard.press("Home");
  for (let i = 0; i < next; i++) {
    await page.waitForTimeout(200);
    await page.keyboard.press("n");
  }
  await page.waitForTimeout(500);
  await page.screenshot({ path: join(to, name + ".png") });
}
{ // the first screen of imported logs
  const trace = join(work, "incident.jsonl"), report = join(work, "incident.html");
  execFileSync(csisim, ["import", "examples/incident", "--until", "2026-11-28", "--output", trace], { stdio: "pipe", cwd: root });
  execFileSync(csisim, ["view", trace, "--output", report], { stdio: "pipe", cwd: root });
  const page = await browser.newPage({ viewport: { width: 1280, height: 330 }, colorScheme: "light" });
  await page.goto("file://" + report + "#tab=summary");
  await page.waitForSelector("header");
  await page.screenshot({ path: join(to, "incident.png") });
}
await browser.close();
rmSync(work, { recursive: true });
