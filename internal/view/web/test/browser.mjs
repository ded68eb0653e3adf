// What the tests in a browser share: pages whose console stays silent and in which axe finds nothing serious.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

/** Runs tests by their names; the program fails if one of them does. */
export async function run(program, tests) {
  const browser = await chromium.launch({
    executablePath: program,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const problems = [];
    const opened = [];
    const open = async (address, width = 1600, colorScheme = "light") => {
      const context = await browser.newContext({ viewport: { width, height: width < 700 ? 844 : 900 }, colorScheme, bypassCSP: false });
      opened.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") problems.push(`console: ${m.text()}`); });
      page.on("pageerror", (e) => problems.push(`page: ${e.message}`));
      page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url()) && !r.url().startsWith(new URL(address).origin)) problems.push("request to " + r.url()); });
      await page.goto(address);
      await page.waitForSelector("header");
      return page;
    };
    try {
      await test(open);
    } catch (problem) {
      problems.push(problem.message);
    }
    for (const context of opened) await context.close().catch(() => {}); // some are closed already
    for (const problem of problems) console.log(`${name}: ${problem}`);
    failed += problems.length ? 1 : 0;
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
}

/** Fails if axe finds anything serious, or if the page is wider than its window. */
export async function check(page) {
  await page.waitForTimeout(250); // what is unpacked later is there
  const found = await violations(page);
  if (found.length) throw new Error("axe: " + found.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).slice(0, 3).join(" ")}`).join("; "));
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  if (content > window) throw new Error(`the page is ${content} px wide in a window of ${window}`);
}

/** Checks a page at both widths and in both schemes, once it shows what it should. */
export async function checkAll(open, address, shows) {
  for (const width of [390, 1600]) {
    const page = await open(address, width, "light");
    if (shows) await page.waitForSelector(shows);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await check(page).catch((problem) => { throw new Error(`${width} px, ${colorScheme}: ${problem.message}`); });
    }
    await page.context().close();
  }
}

/** The page's policy forbids eval: axe runs in a world of its own. */
async function violations(page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  await session.send("Runtime.evaluate", { expression: axe, contextId: executionContextId });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `axe.run().then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => ({ id: v.id, nodes: v.nodes.map((n) => ({ html: n.html })) })))`,
    contextId: executionContextId, awaitPromise: true, returnByValue: true,
  });
  return result.value;
}

export function expect(condition, message) { if (!condition) throw new Error(message); }
export async function has(page, selector, text) {
  let found = [];
  for (let tries = 0; tries < 400 && !found.some((f) => f.includes(text)); tries++) {
    if (tries) await page.waitForTimeout(50);
    found = await page.locator(selector).allInnerTexts();
  }
  expect(found.some((f) => f.includes(text)), `${selector} has no "${text}": ${found.join(" | ").slice(0, 400)}`);
}

/** Waits until a function says yes in the page, for so many seconds. The page's policy forbids the eval by which playwright waits. */
export async function until(page, holds, seconds = 20) {
  for (let tries = 0; tries < seconds * 20; tries++) {
    if (await page.evaluate(holds).catch(() => false)) return;
    await page.waitForTimeout(50);
  }
  throw new Error("never: " + holds);
}
