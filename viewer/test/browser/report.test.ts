// The report of `driftlock reproduce`: one file, figures that answer to pointer and keys, and paper.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { type Served, WITHOUT_PROGRAM, driftlock } from "./server";
import { text, withPage } from "./browser";

const REAL = { timeout: 180_000, skip: WITHOUT_PROGRAM };

test("a report needs nothing but itself, and its figures tell their points", REAL, async () => {
  const folder = mkdtempSync(join(tmpdir(), "viewer-"));
  driftlock("reproduce", "fig8", "--entries", "100", "--replications", "2", "--out", folder);
  const served: Served = { address: `file://${folder}/report.html`, close: () => undefined };
  await withPage(served, { width: 1280, height: 800 }, async (page) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(served.address);
    assert.deepEqual(asked, [served.address]);
    assert.match(await text(page, ".claims"), /holds|mixed|does not hold/);
    assert.match(await text(page, "body"), /driftlock reproduce fig8 --entries 100 --replications 2 --out krl-fig8/);
    assert.match(await text(page, "body"), /seed 1/);

    const [first, second] = [0, 1].map((figure) => page.locator("svg.plot").nth(figure).locator(".point").first());
    const at = await middleOf(first);
    await page.mouse.move(at.x, at.y);
    await page.waitForSelector(".tip:not([hidden])");
    assert.match(await text(page, ".tip"), /KRL.*\d/s);
    await pointsAndScrolls(page, first);
    for (const point of [first, second, first]) {
      const { x, y } = await middleOf(point);
      await page.mouse.click(x, y);
      assert.equal(await page.locator(".tip:not([hidden])").count(), 1, "a press on another figure takes the tip away");
    }
    await page.keyboard.press("Escape");
    await page.mouse.move(2, 2);

    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator(".copy:visible, .tip:visible").count(), 0);
    assert.ok((await page.pdf({ format: "A4" })).length > 20_000);
    await page.emulateMedia({ media: "screen" });
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  });
});

/** Where a point is in the window. Those of several curves may be in the same place; the tip tells of all of them. */
async function middleOf(point: Locator): Promise<{ x: number; y: number }> {
  await point.scrollIntoViewIfNeeded();
  const box = (await point.boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Browsers tell of a scroll with the next frame. A tip called before the scroll goes then, a later one stays. */
async function pointsAndScrolls(page: Page, point: Locator): Promise<void> {
  const isShown = (order: readonly ("point" | "scroll")[]) => point.evaluate(async (circle, deeds) => {
    const told = new Promise((resolve) => {
      addEventListener("scroll", () => requestAnimationFrame(resolve), { once: true });
    });
    for (const deed of deeds) {
      const box = circle.getBoundingClientRect();
      const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true };
      if (deed === "point") circle.dispatchEvent(new PointerEvent("pointermove", at));
      else scrollBy({ top: 20, behavior: "instant" });
    }
    await told;
    return !document.querySelector<HTMLElement>(".tip")!.hidden;
  }, order);
  assert.equal(await isShown(["scroll", "point"]), true, "called after the scroll");
  assert.equal(await isShown(["point", "scroll", "point"]), true, "called again after the scroll");
  assert.equal(await isShown(["point", "scroll"]), false, "scrolled away from the pointer");
  await page.mouse.move(2, 2);
}
