// A trace that csisim view serves: node view.mjs CHROMIUM ADDRESS TRACE. TRACE has a line that is no event, and some chunks of events.
import { readFileSync } from "node:fs";
import { check, checkAll, expect, has, run, until } from "./browser.mjs";

const [program, address, trace] = process.argv.slice(2);

await run(program, {
  "at both widths, in both schemes": async (open) => {
    await checkAll(open, address, "header .verdict.trace");
    await checkAll(open, address + "#tab=timeline", ".list .row.csi");
    await checkAll(open, address + "#tab=cluster", ".objects table");
  },
  "the page says what could not be read": async (open) => {
    const page = await open(address);
    await has(page, "header .verdict", "Recording");
    await has(page, ".problem", "Line 2 is no JSON object");
    await has(page, "h2", "driver calls that change something");
    expect(!page.url().includes("token="), "the token stays in the address");
  },
  "what is looked at comes when it is asked for": async (open) => {
    const page = await open(address + "#tab=timeline"), asked = [];
    page.on("request", (r) => asked.push(r.method() + " " + new URL(r.url()).pathname));
    await has(page, ".list .row", "NodePublishVolume");
    await page.keyboard.press("Home");
    await has(page, ".detail h2", "");
    await page.getByLabel("Any call").selectOption("NodeStageVolume");
    await page.locator(".list .row").first().click();
    await has(page, ".detail .yaml", "staging_target_path: /var/lib/kubelet/");
    await has(page, ".detail .rules summary", "of the CSI spec kept");
    expect(asked.length > 0 && asked.every((a) => a === "GET /said"), "asked: " + asked);
  },
  "a search asks the server, and shows what it finds": async (open) => {
    const page = await open(address + "#tab=timeline&all="), asked = [];
    page.on("request", (r) => asked.push(r.method() + " " + new URL(r.url()).pathname + new URL(r.url()).search));
    await has(page, ".list .row", "csinode/node-a created");
    await page.keyboard.press("/");
    await page.keyboard.type("finalizer +", { delay: 5 });
    await has(page, ".list .row", "finalizer +");
    await until(page, () => !document.querySelector(".count").innerText.includes("searching"));
    expect(asked.includes("GET /search?q=finalizer%20%2B"), "asked: " + asked);
    const [found, all] = (await page.locator(".count").innerText()).replaceAll(",", "").split(" of ").map(Number);
    const lines = readFileSync(trace, "utf8").split("\n").filter((l) => l.includes('"finalizers":["kubernetes.io/pv'));
    expect(found > 60 && found < all / 2, `${found} of ${all} events, ${lines.length} of them name finalizers`);
    await page.locator("#search").fill("there is nothing like it");
    await has(page, ".list", "Nothing fits these filters.");
  },
  "search, filters and the cluster at an instant": async (open) => {
    const page = await open(address + "#tab=timeline&q=NodeUnstageVolume");
    await until(page, () => document.querySelectorAll(".row").length > 3 && document.querySelector(".row .what").innerText.includes("NodeUnstageVolume"));
    await page.keyboard.press("3");
    await has(page, ".objects", "hostpath.csi.k8s.io");
    await page.locator(".objects td button, .objects td a").first().click();
    await has(page, ".detail .yaml", "metadata:");
  },
  "an address of an event that is not there": async (open) => {
    const page = await open(address + "#tab=timeline&at=99999999");
    await has(page, ".notice", "No event here has the number 99999999");
    await page.locator(".notice button").click();
    await until(page, () => !document.querySelector(".notice") && !location.hash.includes("at="));
  },
  "the server is gone": async (open) => {
    const page = await open(address + "#tab=timeline");
    await has(page, ".list .row", "NodePublishVolume");
    await page.evaluate(() => { window.fetch = () => Promise.reject(new TypeError("Failed to fetch")); });
    await page.evaluate(() => { location.hash = "tab=timeline&all=&at=2500"; });
    await has(page, ".notice", "csisim view has ended");
    await page.locator("#search").fill("gone");
    await until(page, () => !document.querySelector(".count").innerText.includes("searching"));
    await page.locator(".take-away summary").click();
    await page.locator(".take-away button", { hasText: "Markdown" }).click();
    await has(page, ".take-away summary", "Export");
    await check(page);
  },
  "the trace comes out as it went in": async (open) => {
    const page = await open(address + "#tab=timeline");
    await page.locator(".take-away summary").click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".take-away button", { hasText: "JSON Lines" }).click()]);
    expect(readFileSync(await file.path(), "utf8") === readFileSync(trace, "utf8").replace("oh no\n", ""), "it is another one");
  },
});
