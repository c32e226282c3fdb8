import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { eventually, press, text, until, withPage } from "./browser";
import { serve } from "./server";
import type { Socket } from "./socket";

const header = {
  format: "driftlock-trace", version: 4, driftlock: "0.1.0", world: {}, nodes: 3, links: [[0, 1], [1, 2]],
  resources: [{ algorithm: "krl", k: 1, without: [], tokens: "each", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["krl"] }],
  field: { width: 300, height: 300, range: 150, sites: [] },
};
const places = [[50, 150], [150, 150], [250, 150]].map((at, move) => ({ t: 0, move, at, velocity: [0, 0] }));
const demo = {
  algorithms: [{ tag: "krl", title: "k tokens", how: "Each dock has a token.", repairs: [{ name: "pace", what: "slows down" }] }, { tag: "hok", title: "several", repairs: [] }],
  algorithm: "krl", without: [], nodes: 3, k: 1, speed: 1, paused: false, canAct: true,
};

test("a demo is followed and controlled, and a lost connection comes back", { timeout: 120_000 }, async () => {
  const sockets: Socket[] = [];
  const served = await serve("dist", null, (socket) => {
    sockets.push(socket);
    socket.send(header, { demo }, ...places);
    socket.send({ now: 5e8, checked: 12 });
  });
  await withPage(served, { width: 1280, height: 800 }, async (page) => {
    await page.goto(served.address);
    await until(page, ".verdict-words", /12 events checked/);
    const { received } = sockets[0];
    const command = async (name: string, act: () => Promise<void>) => {
      const before = received.length;
      await act();
      const find = () => received.slice(before).find((sent) => name in sent) ?? null;
      return (await eventually(`the page sends ${name}`, find))[name];
    };
    assert.deepEqual(await command("hold", () => page.getByRole("button", { name: "Hold the clock" }).click()), true);
    await page.keyboard.press("j");
    assert.deepEqual(await command("request", () => page.getByRole("button", { name: "Request" }).click()), { node: 0 });
    assert.deepEqual(await command("crash", () => page.getByRole("button", { name: "Crash" }).click()), 0);
    assert.deepEqual(await command("pause", () => page.locator(".node-acts").getByRole("button", { name: "Pause" }).click()), 0);
    const map = (await page.locator(".map-canvas").boundingBox())!;
    const middle = { x: map.x + map.width / 2, y: map.y + map.height / 2 };
    const dragged = (await command("drag", async () => {
      await page.mouse.move(middle.x, middle.y);
      await page.mouse.down();
      await page.mouse.move(middle.x + 30, middle.y + 60, { steps: 4 });
      await page.mouse.up();
    })) as { node: number };
    assert.equal(dragged.node, 1);
    await page.getByRole("button", { name: "Jam an area" }).click();
    const jam = (await command("jam", async () => {
      await page.mouse.move(middle.x + 20, middle.y - 100);
      await page.mouse.down();
      await page.mouse.move(middle.x + 80, middle.y - 100, { steps: 4 });
      await page.mouse.up();
    })) as { radius: number };
    assert.ok(jam.radius > 10);
    const scale = Math.min(map.width - 68, map.height - 68) / 300;
    await page.mouse.click(middle.x + 50 * scale, middle.y);
    assert.deepEqual(await command("cut", () => page.getByRole("button", { name: "Cut", exact: true }).click()), [1, 2]);
    await page.keyboard.press("Escape");
    await withoutAPointer(page, command);
    await page.locator(".setting summary").click();
    await page.locator(".repairs input").first().uncheck();
    assert.deepEqual(await command("restart", () => page.getByRole("button", { name: "Restart" }).click()), { algorithm: "krl", without: ["pace"] });
    const names = received.flatMap((sent) => Object.keys(sent));
    const turns = names.filter((name, at) => name !== names[at - 1]);
    assert.deepEqual(turns, ["hold", "request", "crash", "pause", "drag", "jam", "cut", "drag", "jam", "restart"]);
    sockets[0].send({ told: "It has begun anew." });
    await until(page, ".news:not([hidden]) span", /^It has begun anew\.$/);
    await page.getByRole("button", { name: "Close this notice" }).click();
    await page.waitForSelector(".news", { state: "hidden" });
    sockets[0].send({ refused: "node 0 waits already" });
    await until(page, ".brief", /^node 0 waits already$/);
    sockets[0].drop();
    await until(page, ".lost:not([hidden])", /connection is lost/);
    await page.waitForSelector(".lost", { state: "hidden" });
    assert.equal(sockets.length, 2);
  });
});

type Commanded = (name: string, act: () => Promise<void>) => Promise<unknown>;

/** A link is chosen and cut, a node moved and its surroundings jammed, with keys only. */
async function withoutAPointer(page: Page, command: Commanded): Promise<void> {
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await press(page, "j");
  await press(page, "j");
  await press(page, "l");
  assert.match(await text(page, ".node h2"), /^Link 1–0$/);
  await press(page, "l");
  assert.match(await text(page, ".node h2"), /^Link 1–2$/);
  await press(page, "Enter");
  assert.deepEqual(await command("cut", () => page.keyboard.press("Enter")), [1, 2]);
  await press(page, "l");
  assert.match(await text(page, ".node h2"), /^Node 1$/);
  const moved = (await command("drag", () => page.keyboard.press("Shift+ArrowDown"))) as { node: number; to: number[] };
  assert.deepEqual([moved.node, moved.to.map(Math.round)], [1, [150, 170]]);
  await page.locator(".node").getByRole("button", { name: "Jam here" }).focus();
  assert.deepEqual(await command("jam", () => page.keyboard.press("Space")), { centre: [150, 150], radius: 100 });
  await press(page, "Escape");
}
