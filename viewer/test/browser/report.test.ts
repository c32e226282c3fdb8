// The report of `driftlock reproduce`: one file, figures that answer to pointer and keys, and paper.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
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

    const point = page.locator("svg .point").first();
    await point.scrollIntoViewIfNeeded();
    // Points of several curves may be in the same place; any of them will do.
    const box = (await point.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector(".tip:not([hidden])");
    assert.match(await text(page, ".tip"), /KRL.*\d/s);
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
