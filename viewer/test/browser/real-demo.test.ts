// The real demo, by the page's own controls.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { drawn, eventually, press, shown, shows, text, until, withPage, workOf } from "./browser";
import { WITHOUT_PROGRAM, started } from "./server";
import { Watcher } from "./watch";

const DESK = { width: 1280, height: 800 };
const REAL = { timeout: 180_000, skip: WITHOUT_PROGRAM };

const act = (page: Page, name: string) => page.locator(".node-acts").getByRole("button", { name, exact: true }).click();

async function selectAnIdleNode(page: Page): Promise<void> {
  await eventually("a node is idle", async () => {
    await press(page, "j");
    return (await text(page, ".node .section")) === "idle";
  });
}

test("the demo moves at once, and does what its controls say", REAL, async () => {
  const begun = performance.now();
  const served = await started("demo", "--port", "0", "--seed", "1");
  await withPage(served, DESK, async (page) => {
    const watcher = new Watcher(page);
    const worked = await workOf(page);
    await page.goto(served.address);
    await shows(page, 0);
    const first = await page.locator(".map-canvas").screenshot();
    await eventually("anything moves", async () => !(await page.locator(".map-canvas").screenshot()).equals(first));
    const [seconds, work] = [(performance.now() - begun) / 1000, await worked()];
    const words = `${seconds.toFixed(1)} s, with ${work.toFixed(1)} s of a processor for the page`;
    console.log(`from the start of the program and of the browser to motion: ${words}`);
    assert.ok(work < 3, `the page worked for ${work} s until anything moved`);

    await selectAnIdleNode(page);
    await actSlowly(page, "Request");
    await until(page, ".node .section", /waiting|critical/);
    await until(page, ".node .section", /critical/);
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
    await watcher.hold();
    await dragANode(page, watcher);
    await cutALink(page, watcher);
    await watcher.letGo();
    await jamACorner(page, watcher);
  });
});

/** As people click: a button must not be taken away under the finger while events go by. */
async function actSlowly(page: Page, name: string): Promise<void> {
  const box = (await page.locator(".node-acts").getByRole("button", { name, exact: true }).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await shows(page, (await shown(page)) + 0.7);
  await page.mouse.up();
}

async function cutByKeys(page: Page): Promise<void> {
  await eventually("a node has a link", async () => {
    await press(page, "j");
    await press(page, "l");
    return (await text(page, ".node h2")).startsWith("Link");
  });
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

async function dragANode(page: Page, watcher: Watcher): Promise<void> {
  const [node, goal] = [6, [560, 40]] as const;
  const [from, to] = [await watcher.pixel(node), await watcher.pixelOf(goal)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2, { steps: 4 });
  await page.mouse.move(to.x, to.y, { steps: 4 });
  await page.mouse.up();
  await eventually("the node is where it was dragged", () => {
    const [x, y] = watcher.state.placeOf(node, watcher.trace!.last)!;
    return Math.hypot(x - goal[0], y - goal[1]) < 1;
  });
  await watcher.caughtUp();
  // The pointer is there already, but the page notices where it is when it moves.
  await page.mouse.move(5, 5);
  await page.mouse.move(to.x, to.y);
  await until(page, ".tip:not([hidden])", new RegExp(`^Node ${node} `));
  await page.mouse.move(5, 5);
}

async function cutALink(page: Page, watcher: Watcher): Promise<void> {
  for (const [a, b] of watcher.links().slice(0, 20)) {
    const [one, other] = [await watcher.pixel(a), await watcher.pixel(b)];
    await page.mouse.click(one.x * 0.45 + other.x * 0.55, one.y * 0.45 + other.y * 0.55);
    await drawn(page);
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

test("without the repair reclaim the verdict turns red within a minute of the field's time", REAL, async () => {
  const served = await started("demo", "--port", "0", "--seed", "1");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await until(page, ".verdict", /Held so far/);
    await page.locator(".setting summary").click();
    await page.locator(".repairs label", { hasText: "reclaim" }).locator("input").uncheck();
    await page.getByRole("button", { name: "Restart" }).click();
    await until(page, ".run", /without reclaim/);
    await page.getByLabel("Speed of the run").selectOption("20");
    await page.waitForSelector(".verdict.violated");
    const at = /Violated at ([\d.]+): \S+/.exec(await text(page, ".verdict"))![1];
    assert.ok(Number(at) < 60, at);
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Go there" }).click();
    await until(page, ".event h2", /^Violated: the permits held/);
    assert.match(await text(page, ".event .meaning"), /^Unit \d is lost: nobody has it, and no message brings it\./);
    assert.match(await text(page, ".event .when"), new RegExp(`t = ${at}`));
  });
});

test("a run that has grown to what is kept begins anew, and says so", REAL, async () => {
  const served = await started("demo", "--port", "0", "--seed", "1", "--speed", "100", "--history", "1");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await until(page, ".news:not([hidden])", /the run had grown to 1 MB, as much as is kept: it has begun anew/);
    await until(page, ".verdict", /Held so far/);
  });
});
