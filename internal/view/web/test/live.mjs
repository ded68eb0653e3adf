// The page of a live cluster: node live.mjs CHROMIUM ADDRESS
import { check, checkAll, expect, has, run, until } from "./browser.mjs";

const [program, address] = process.argv.slice(2);

await run(program, {
  "the cluster as it is, trouble on top": async (open) => {
    const page = await open(address);
    await has(page, "header", "Live");
    await has(page, ".objects", "node-b");
    await has(page, ".objects", "attached");
    await has(page, ".objects", "Mounts · 2");
    await has(page, ".objects", "mock.csi.csisim.dev");
    expect(!page.url().includes("token="), "the token stays in the address");
    await check(page);
  },
  "calls and events, as text": async (open) => {
    const page = await open(address + "#tab=timeline&failures=");
    await has(page, ".list", "device <b>not</b> found");
    await has(page, ".list", "FailedMount");
    await page.getByLabel("Only trouble").uncheck();
    await page.getByLabel("Any call").selectOption("NodeStageVolume");
    await until(page, () => document.querySelectorAll(".row").length === 2);
    await page.locator(".row").nth(1).click();
    await has(page, ".detail", "2 attempts");
  },
  "an object, by its address": async (open) => {
    const page = await open(address + "#tab=cluster&show=pods/web");
    await has(page, ".detail", "nodeName: node-");
  },
  "what processes wait for": async (open) => {
    const page = await open(address);
    await has(page, ".objects h3", "What processes wait for");
    await has(page, ".waits", "/informers");
  },
  "at both widths, in both schemes": async (open) => {
    await checkAll(open, address, ".objects table");
    await checkAll(open, address + "#tab=timeline&failures=", ".list .row");
  },
  "nothing but GET": async (open) => {
    const page = await open(address);
    const methods = new Set();
    page.on("request", (r) => methods.add(r.method()));
    await page.waitForTimeout(2200);
    expect([...methods].join() === "GET", "methods: " + [...methods]);
  },
  "it follows the cluster, which changes": async (open) => {
    const page = await open(address + "#tab=cluster&show=pods/web");
    const before = await page.locator(".link-state").innerText();
    await has(page, ".objects tr.chosen", "Running");
    console.log("delete pods/web"); // who runs this does
    await until(page, () => /Terminating|Succeeded/.test(document.querySelector(".objects tr.chosen")?.innerText) || /was deleted at/.test(document.querySelector(".detail")?.innerText), 60);
    expect(before !== (await page.locator(".link-state").innerText()), "the time stands still at " + before);
  },
});
