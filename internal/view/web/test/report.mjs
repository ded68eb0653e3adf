// Reports: node report.mjs CHROMIUM FAILED PASSED BOTH INDEX TRACE-OF-FAILED TRACE-OF-PASSED. FAILED is of a driver that forgets to
// unmount, PASSED of a run with a cache that lags, BOTH has two traces side by side.
import { readFileSync } from "node:fs";
import { check, checkAll, expect, has, run, until } from "./browser.mjs";

const [program, file, passed, both, index, trace, stale] = process.argv.slice(2);
const address = "file://" + file, passing = "file://" + passed, comparing = "file://" + both;

const looks = {};
for (const [what, at, shows] of [
  ["the summary", address, ".chain"], ["the timeline", address + "#tab=timeline&at=121", ".detail .rules, .detail .findings"], ["the cluster", address + "#tab=cluster&at=121", ".objects"],
  ["a run that passed", passing, ".steps"], ["a cache that lags", passing + "#tab=cluster&at=5", ".caches"], ["two traces", comparing + "#tab=compare&at=7", ".pair .detail h2"], ["the index of reports", "file://" + index, ".groups li"],
]) {
  looks[what + " at both widths, in both schemes"] = (open) => checkAll(open, at, shows);
}

await run(program, {
  ...looks,
  "a run that passed shows what was covered": async (open) => {
    const page = await open(passing);
    await has(page, "h2", "All expectations of the scenario held.");
    await has(page, ".steps li.passed", "apply pod/web");
    await has(page, ".covered table", "NodePublishVolume");
  },
  "a call says which release of the driver received it": async (open) => {
    const page = await open(passing + "#tab=timeline&at=7");
    await has(page, ".detail .facts", "kubelet node-a → driver on node-a of release v2");
    await has(page, ".list .row[aria-selected=true] .release", "v2");
  },
  "on a narrow page the chosen event is in the window": async (open) => {
    const page = await open(address + "#tab=timeline", 390);
    await until(page, () => { const chosen = document.querySelector(".row[aria-selected=true]")?.getBoundingClientRect(); return chosen && chosen.top > 0 && chosen.bottom <= innerHeight; });
  },
  "a cache that lags, and what it has instead": async (open) => {
    const page = await open(passing + "#tab=cluster&at=5");
    await has(page, ".caches summary", "kubelet node-a has not seen 1 change of pods/web");
    await page.locator(".caches summary").click();
    await has(page, ".caches ins", "nodeName: node-a");
    await page.keyboard.press("ArrowRight"); // it has learnt
    await until(page, () => !document.querySelector(".caches"));
    await page.keyboard.press("ArrowLeft");
    await has(page, ".caches summary", "kubelet node-a");
  },
  "what processes wait for, back and forth": async (open) => {
    const page = await open(passing + "#tab=cluster&at=1");
    await has(page, ".waits", "pods of its node");
    await page.goto(passing + "#tab=cluster&at=7");
    await has(page, ".waits tr:first-child", "its containers to start (until 2m0s)");
    await until(page, () => !document.querySelector(".waits").innerText.includes("pods of its node"));
    await page.goto(passing + "#tab=cluster&at=8");
    await until(page, () => document.querySelectorAll(".waits tbody tr").length === 1);
  },
  "the rules that a call kept": async (open) => {
    const page = await open(passing + "#tab=timeline&at=7");
    await page.locator(".rules summary").click({ position: { x: 5, y: 8 } });
    await has(page, ".rules li", "the target path is as requested: a directory or a block device");
    await has(page, ".rules li", "the CSI spec requires it: volume_id, target_path, volume_capability");
    await has(page, ".rules li", "the CSI spec wants an absolute path: target_path");
  },
  "a call's volume before and after it": async (open) => {
    const page = await open(passing + "#tab=timeline&at=7");
    await has(page, ".around", "not there → published");
    await has(page, ".around", "pod web Pending");
    await page.goto(address + "#tab=timeline&at=121");
    await has(page, ".around .bad", "published → still there");
  },
  "two traces side by side": async (open) => {
    const page = await open(comparing);
    await has(page, "h2", "differ on 1 of 2 levels");
    await until(page, () => document.querySelectorAll(".both canvas").length === 2);
    await has(page, ".aligned .here", "NodeUnpublishVolume");
    await page.goto(comparing + "#tab=compare&at=7");
    await until(page, () => document.querySelectorAll(".pair .detail").length === 2);
    await has(page, ".pair .detail:first-child h2", "NodePublishVolume");
    await has(page, ".pair .detail:last-child h2", "NodePublishVolume"); // what B has in its place
  },
  "the first screen says why": async (open) => {
    const page = await open(address);
    await has(page, "h2", "The driver answered OK to NodeUnpublishVolume, but the volume data of pod web is still mounted at the target path on node-a.");
    await has(page, ".why.main .facts", "nothing is mounted at the target path any more");
    await has(page, ".why.main .facts", "1 mount is still there after the OK");
    await has(page, ".chain li", "NodePublishVolume");
    await has(page, ".chain li", "delete pod web");
    await has(page, ".chain li.end", "1 mounted still");
  },
  "a link of the chain leads to its event": async (open) => {
    const page = await open(address);
    await page.locator(".chain a", { hasText: "NodeUnpublishVolume" }).first().click();
    await has(page, ".detail h2", "NodeUnpublishVolume");
    await has(page, ".detail .yaml", "target_path: /var/lib/kubelet/pods/");
    await has(page, ".findings", "VIOLATION");
  },
  "the keyboard alone leads from the verdict to the event and on": async (open) => {
    const page = await open(address);
    const focused = () => page.evaluate(() => document.activeElement.closest(".chain a")?.innerText ?? "");
    for (let i = 0; i < 20 && !(await focused()).includes("NodeUnpublishVolume"); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await has(page, ".detail h2", "NodeUnpublishVolume");
    await page.keyboard.press("3");
    await page.waitForSelector(".objects");
    await page.keyboard.press("ArrowRight");
    await has(page, ".slider", "VIOLATION");
  },
  "the keyboard steps through time, both ways": async (open) => {
    const page = await open(address + "#tab=timeline&at=121");
    await page.keyboard.press("ArrowRight");
    await has(page, ".detail h2", "VIOLATION");
    await page.keyboard.press("ArrowLeft");
    await has(page, ".detail h2", "NodeUnpublishVolume");
    await page.keyboard.press("Home");
    await until(page, () => document.querySelector(".detail h2").innerText.includes("created"));
    await page.keyboard.press("n");
    await has(page, ".detail h2", "FailedScheduling");
    await page.keyboard.press("End");
    await until(page, () => !location.hash.includes("at="));
    await page.keyboard.press("p");
    await has(page, ".detail h2", "VIOLATION");
    await page.keyboard.press("1");
    await page.waitForSelector(".chain");
    await page.keyboard.press("3");
    await page.waitForSelector(".objects");
  },
  "what is searched for is shown, and stands in the address": async (open) => {
    const page = await open(address + "#tab=timeline");
    await page.keyboard.press("/");
    await page.keyboard.type("NodeStageVolume");
    await until(page, () => document.querySelectorAll(".row").length === 1);
    await until(page, () => location.hash.includes("q=NodeStageVolume"));
    const again = await open(page.url());
    await until(again, () => document.querySelectorAll(".row").length === 1);
    await again.locator("button", { hasText: "Clear" }).click();
    await until(again, () => document.querySelectorAll(".row").length > 10);
  },
  "filters leave what they name": async (open) => {
    const page = await open(address + "#tab=timeline");
    await page.getByLabel("Only trouble").check();
    await until(page, () => document.querySelectorAll(".row").length === 6);
    await page.getByLabel("Only trouble").uncheck();
    await page.getByLabel("Any call").selectOption("CreateVolume");
    await until(page, () => document.querySelectorAll(".row").length === 1);
    await has(page, ".row", "= vol-");
  },
  "an object is shown as it was": async (open) => {
    const page = await open(address + "#tab=cluster&at=102&show=pods/web");
    await has(page, ".objects tr.chosen", "Running");
    await has(page, ".yaml ins", "phase: Running");
    await has(page, ".yaml del", "phase: Pending");
    await page.getByLabel("Step back").click();
    await until(page, () => document.querySelector(".objects tr.chosen").innerText.includes("Pending"));
    await page.goto(address + "#tab=cluster&at=50&show=pods/web");
    await until(page, () => document.querySelector(".detail").innerText.includes("does not exist yet"));
  },
  "a mount that was left is marked": async (open) => {
    const page = await open(address + "#tab=cluster&at=122");
    await has(page, ".paths", "still there");
    await page.goto(address + "#tab=cluster&at=94");
    await until(page, () => document.querySelector(".paths").innerText.includes("published"));
  },
  "no page contradicts the first screen: the call is trouble, and its mount is there": async (open) => {
    const page = await open(address + "#tab=timeline&at=121");
    await has(page, ".detail h2.bad", "NodeUnpublishVolume");
    await has(page, ".row.bad[aria-selected=true]", "NodeUnpublishVolume");
    await has(page, ".detail .rules summary", "other rules of the CSI spec kept");
    await page.goto(address + "#tab=cluster&at=121");
    await has(page, ".objects h3:first-child", "Mounts · 2");
    await has(page, ".paths .bad", "still there");
    await page.goto(address + "#tab=timeline&failures=");
    await has(page, ".row", "NodeUnpublishVolume");
    await page.goto(address + "#tab=summary");
    await has(page, ".lives", "still mounted");
    await until(page, () => document.querySelectorAll(".life .left-behind").length === 1);
  },
  "the index lists runs by group, and filters them by state": async (open) => {
    const page = await open("file://" + index);
    await has(page, "h1", "a.csi.example.com <1>");
    await has(page, ".findings a", "NodeStageVolume is not idempotent");
    await has(page, ".groups li.failed .why", "NodeStageVolume is not idempotent");
    await page.locator(".filter label", { hasText: "failed · 1" }).click();
    expect(await page.locator(".groups li.passed").isHidden() && await page.locator(".groups li.failed").isVisible(), "passed runs are shown");
    await has(page, "pre", "FAIL Life of a volume");
  },
  "objects can be sorted, and pods say whether they are ready": async (open) => {
    const page = await open(address + "#tab=cluster&at=102");
    await has(page, ".objects tr", "ready");
    await page.locator(".orders button", { hasText: "by name" }).click();
    await page.waitForSelector(".orders button[aria-pressed=true]");
    await has(page, ".orders .on", "by name");
    await page.goto(address + "#tab=summary");
    await has(page, ".covered .facts", "2 nodes, 1 pod, 1 claim");
  },
  "the timeline opens at the failure": async (open) => {
    const page = await open(address);
    await page.keyboard.press("2");
    await has(page, ".detail h2.bad", "NodeUnpublishVolume");
    await page.waitForSelector("canvas.overview");
  },
  "n finds the first trouble of a run in which nothing is chosen": async (open) => {
    const page = await open(address + "#tab=timeline&at=0");
    await has(page, ".detail", "Choose an event");
    await page.keyboard.press("n");
    await has(page, ".detail h2", "FailedScheduling");
  },
  "? shows the keys": async (open) => {
    const page = await open(address);
    await page.keyboard.press("?");
    await has(page, ".keys", "the trouble before and after");
    await check(page);
    await page.keyboard.press("Escape");
    await until(page, () => !document.querySelector(".keys"));
  },
  "Back and Forward walk through what was looked at": async (open) => {
    const page = await open(address);
    await page.locator(".chain a", { hasText: "NodePublishVolume" }).first().click();
    await has(page, ".detail h2", "NodePublishVolume");
    await page.waitForTimeout(700);
    await page.locator(".row", { hasText: "VIOLATION" }).click();
    await has(page, ".detail h2", "VIOLATION");
    await page.goBack();
    await has(page, ".detail h2", "NodePublishVolume");
    await page.goBack();
    await page.waitForSelector(".chain");
    await page.goForward();
    await has(page, ".detail h2", "NodePublishVolume");
  },
  "the history of an object says what changed": async (open) => {
    const page = await open(address + "#tab=cluster&at=102&show=persistentvolumeclaims/data");
    await has(page, ".history", "phase Bound");
    await has(page, ".history", "PV controller");
  },
  "long paths show their ends, and are whole when copied": async (open) => {
    const page = await open(address);
    const text = await page.evaluate(() => document.querySelector(".notes .long-path")?.textContent ?? "");
    expect(text.startsWith("/var/lib/kubelet/"), "the path is not whole: " + text);
    await check(page);
  },
  "all forms can be taken away": async (open) => {
    const page = await open(address + "#tab=timeline&failures=");
    const take = async (title) => {
      await page.locator(".take-away summary").click();
      const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".take-away button", { hasText: title }).click()]);
      return readFileSync(await file.path(), "utf8");
    };
    expect((await take("Markdown")).includes("| 12.530 s | kubelet node-a | VIOLATION"), "Markdown");
    expect((await take("Mermaid")).startsWith("sequenceDiagram\n  participant p0"), "Mermaid");
    expect((await take("SVG")).startsWith("<svg "), "SVG");
    expect(JSON.parse(await take("Chrome")).traceEvents.some((e) => e.ph === "i" && e.name.startsWith("VIOLATION")), "Chrome trace");
    expect(JSON.parse(await take("OpenTelemetry")).resourceSpans[0].scopeSpans[0].spans[0].events.length === 5, "OTLP");
    expect((await take("JSON Lines")) === readFileSync(trace, "utf8"), "the trace comes out as it went in");
    const other = await open(passing + "#tab=timeline");
    await other.locator(".take-away summary").click();
    const [file] = await Promise.all([other.waitForEvent("download"), other.locator(".take-away button", { hasText: "JSON Lines" }).click()]);
    expect(readFileSync(await file.path(), "utf8") === readFileSync(stale, "utf8"), "states come out as they went in, too");
  },
});
