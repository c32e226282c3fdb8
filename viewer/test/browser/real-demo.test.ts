// The real demo, by the page's own controls.
import assert from "node:assert/strict";
import { cpus, loadavg } from "node:os";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { text, withPage } from "./browser";
import { WITHOUT_PROGRAM, started } from "./server";
import { Watcher } from "./watch";

const DESK = { width: 1280, height: 800 };
const REAL = { timeout: 180_000, skip: WITHOUT_PROGRAM };

/** Until the words somewhere are like this. */
async function until(page: Page, selector: string, words: RegExp, timeout = 15_000): Promise<void> {
  await page.waitForFunction(([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ""), [selector, words.source] as const, { timeout });
}

const act = (page: Page, name: string) => page.locator(".node-acts").getByRole("button", { name, exact: true }).click();

/** Selects a node of which these words are true. */
async function selectOne(page: Page, words: RegExp): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    await page.keyboard.press("j");
    await page.waitForTimeout(60);
    if (words.test(await text(page, ".node .section"))) return Number((await text(page, ".node h2")).replace("Node ", ""));
  }
  throw new Error(`no node is ${words.source}`);
}

test("the demo moves at once, and does what its controls say", REAL, async () => {
  const begun = performance.now();
  const served = await started("demo", "--port", "0", "--seed", "1");
  await withPage(served, DESK, async (page) => {
    const watcher = new Watcher(page);
    await page.goto(served.address);
    await page.waitForFunction(() => Number(document.querySelector(".track")?.getAttribute("aria-valuenow")) > 0);
    const first = await page.locator(".map-canvas").screenshot();
    await page.waitForTimeout(200);
    assert.notDeepEqual(await page.locator(".map-canvas").screenshot(), first);
    const seconds = (performance.now() - begun) / 1000;
    console.log(`from the start of the program and of the browser to motion: ${seconds.toFixed(1)} s`);
    // A browser that starts among other programs takes its time, which is none of the page's.
    assert.ok(seconds < (loadavg()[0] < cpus().length ? 5 : 15), `nothing moved for ${seconds} s`);

    await selectOne(page, /^idle$/);
    await actSlowly(page, "Request");
    await until(page, ".node .section", /waiting|critical/);
    await until(page, ".node .section", /critical/, 60_000);
    await act(page, "Release");
    await until(page, ".node .section", /^(?!.*critical)/);

    await act(page, "Crash");
    await until(page, ".node .section", /^crashed$/);
    await act(page, "Revive");
    await until(page, ".node .section", /^(?!.*crashed)/);
    await act(page, "Pause");
    await until(page, ".node .section", /paused$/);
    await act(page, "Resume");
    await until(page, ".node .section", /^(?!.*paused)/);

    // Twice before the page knows of the first: the second is turned away.
    await page.locator(".node-acts").getByRole("button", { name: "Crash" }).evaluate((button: HTMLButtonElement) => {
      button.click();
      button.click();
    });
    await until(page, ".brief", /already/);
    await act(page, "Revive");
    await page.keyboard.press("Escape");

    await cutByKeys(page);
    await dragSomebody(page, watcher);
    await cutALink(page, watcher);
    await jamACorner(page, watcher);
  });
});

/** As people click: a button must not be taken away under the finger while events go by. */
async function actSlowly(page: Page, name: string): Promise<void> {
  const box = (await page.locator(".node-acts").getByRole("button", { name, exact: true }).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.waitForTimeout(700);
  await page.mouse.up();
}

async function cutByKeys(page: Page): Promise<void> {
  await selectOne(page, /^idle$/);
  await page.keyboard.press("l");
  await until(page, ".node h2", /^Link/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent === "Cut");
  await page.keyboard.press("Enter");
  await until(page, ".node .section", /^cut$/);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent === "Mend");
  await page.keyboard.press("Enter");
  await until(page, ".node .section", /^(?!cut)/);
  await page.keyboard.press("Escape");
}

async function dragSomebody(page: Page, watcher: Watcher): Promise<void> {
  const [from, to] = [await watcher.pixel(6), await watcher.pixelOf([560, 40])];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(700);
  const near = (node: number) => {
    const [x, y] = watcher.state.placeOf(node, watcher.trace!.last)!;
    return Math.hypot(x - 560, y - 40) < 30;
  };
  const dragged = watcher.state.nodes.findIndex((_, node) => near(node));
  assert.ok(dragged >= 0, "nobody was dragged there");
  const there = await watcher.pixel(dragged);
  await page.mouse.move(there.x, there.y);
  await until(page, ".tip", new RegExp(`^Node ${dragged} `));
  await page.mouse.move(5, 5);
}

async function cutALink(page: Page, watcher: Watcher): Promise<void> {
  for (const [a, b] of watcher.links().slice(0, 20)) {
    const [one, other] = [await watcher.pixel(a), await watcher.pixel(b)];
    await page.mouse.click(one.x * 0.45 + other.x * 0.55, one.y * 0.45 + other.y * 0.55);
    await page.waitForTimeout(150);
    if ((await page.locator(".node:not([hidden]) h2").count()) > 0 && (await text(page, ".node h2")).startsWith("Link")) break;
  }
  assert.match(await text(page, ".node h2"), /^Link/);
  await act(page, "Cut");
  await until(page, ".node .section", /^cut$/);
  assert.equal(await page.locator(".legend li:not([hidden]) .cut").count(), 1);
  await act(page, "Mend");
  await until(page, ".node .section", /^(?!cut)/);
  await page.keyboard.press("Escape");
}

async function jamACorner(page: Page, watcher: Watcher): Promise<void> {
  await page.getByRole("button", { name: "Jam an area" }).click();
  const [centre, rim] = [await watcher.pixelOf([120, 120]), await watcher.pixelOf([220, 120])];
  await page.mouse.move(centre.x, centre.y);
  await page.mouse.down();
  await page.mouse.move(rim.x, rim.y, { steps: 4 });
  await page.mouse.up();
  await page.waitForSelector(".legend li:not([hidden]) .fault");
  await page.getByRole("button", { name: "End jams and cuts" }).click();
  await page.waitForSelector(".legend li[hidden] .fault", { state: "attached" });
}

test("without the repair reclaim the verdict turns red within a minute", REAL, async () => {
  const served = await started("demo", "--port", "0", "--seed", "1");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await until(page, ".verdict", /Held so far/);
    await page.locator(".setting summary").click();
    await page.locator(".repairs label", { hasText: "reclaim" }).locator("input").uncheck();
    await page.getByRole("button", { name: "Restart" }).click();
    await until(page, ".run", /without reclaim/);
    await page.getByLabel("Speed of the run").selectOption("20");
    await page.waitForSelector(".verdict.violated", { timeout: 60_000 });
    assert.match(await text(page, ".verdict"), /Violated at [\d.]+: \S+/);
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Go there" }).click();
    await until(page, ".event h2", /^Violated: the permits held/);
    assert.match(await text(page, ".event .meaning"), /^Unit \d is lost: nobody has it, and no message brings it\./);
    assert.match(await text(page, ".event .when"), new RegExp(`t = ${/at ([\d.]+):/.exec(await text(page, ".verdict"))![1]}`));
  });
});

test("a run that has grown to what is kept begins anew, and says so", REAL, async () => {
  const served = await started("demo", "--port", "0", "--seed", "1", "--speed", "100", "--history", "1");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await until(page, ".news:not([hidden])", /the run had grown to 1 MB, as much as is kept: it has begun anew/, 60_000);
    await until(page, ".verdict", /Held so far/);
  });
});
