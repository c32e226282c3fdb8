// The picture of the README, from a real demo. It is written with SCREENSHOT=1 only: no two runs give the same one.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { isDown } from "../../src/model/state";
import { whyWaits } from "../../src/model/why";
import { drawn, eventually, shows, text, until, withPage } from "./browser";
import { WITHOUT_PROGRAM, started } from "./server";
import { Watcher } from "./watch";

const PICTURE = "../docs/images/demo.png";
/** Nodes that ask and keep what they get, so that others have to wait. */
const ASKERS: readonly number[] = [2, 13, 12, 6];

test("the picture of the README can be taken", { timeout: 180_000, skip: WITHOUT_PROGRAM }, async () => {
  const served = await started("demo", "--port", "0", "--seed", "1");
  await withPage(served, { width: 1280, height: 800 }, async (page) => {
    const watcher = new Watcher(page);
    await page.goto(served.address);
    await shows(page, 8);
    await watcher.hold();
    await jam(page, watcher);
    await ask(page);
    await watcher.letGo();
    await letATokenGo(page, watcher, await holdWhileANodeWaits(watcher));
    const waiting = await holdWhileANodeWaits(watcher);
    await select(page, waiting);
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await until(page, ".verdict", /Held so far/);
    await page.mouse.move(5, 5);
    await drawn(page);
    assert.match(await text(page, ".node .why"), /→/);
    const picture = await page.screenshot();
    assert.ok(picture.length > 20_000);
    if (process.env.SCREENSHOT !== "1") return;
    mkdirSync("../docs/images", { recursive: true });
    writeFileSync(PICTURE, picture);
  });
});

async function jam(page: Page, watcher: Watcher): Promise<void> {
  const [centre, rim] = [await watcher.pixelOf([95, 360]), await watcher.pixelOf([170, 360])];
  await page.getByRole("button", { name: "Jam an area" }).click();
  await page.mouse.move(centre.x, centre.y);
  await page.mouse.down();
  await page.mouse.move(rim.x, rim.y, { steps: 4 });
  await page.mouse.up();
}

async function select(page: Page, node: number): Promise<void> {
  await page.keyboard.press("Escape");
  for (let at = 0; at <= node; at++) await page.keyboard.press("j");
  await drawn(page);
}

/** While the clock is held: who can, asks. */
async function ask(page: Page): Promise<void> {
  for (const node of ASKERS) {
    await select(page, node);
    const button = page.locator(".node-acts").getByRole("button", { name: "Request" });
    if (await button.isEnabled()) await button.click();
  }
  await page.keyboard.press("Escape");
}

/** A node whose request has gone some way to a unit that is in use, if there is any. */
function waitingNode({ state }: Watcher): number | null {
  const found = state.nodes.findIndex((node, id) => {
    const why = node.section === "waiting" && !isDown(node) ? whyWaits(state, id) : null;
    return why !== null && why.path.length >= 3 && why.ending === "held";
  });
  return found >= 0 && state.waiting >= 4 ? found : null;
}

/** Holds the clock as soon as a node waits so; until it stands, that may be over. */
async function holdWhileANodeWaits(watcher: Watcher): Promise<number> {
  return eventually("a node waits for a unit that another uses", async () => {
    if (waitingNode(watcher) === null) return null;
    await watcher.hold();
    const waiting = waitingNode(watcher);
    if (waiting === null) await watcher.letGo();
    return waiting;
  });
}

/** Lets the clock go, and a unit that the node does not wait for: a picture of tokens should have one that moves. */
async function letATokenGo(page: Page, watcher: Watcher, waiting: number): Promise<void> {
  const holder = whyWaits(watcher.state, waiting).path.at(-1);
  const other = ASKERS.find((node) => node !== holder && watcher.state.nodes[node].section === "critical");
  if (other === undefined) return watcher.letGo();
  await select(page, other);
  const before = watcher.trace!.grants.length;
  await page.locator(".node-acts").getByRole("button", { name: "Release" }).click();
  await watcher.letGo();
  await eventually("the unit is granted to the next", () => watcher.trace!.grants.length > before);
}
