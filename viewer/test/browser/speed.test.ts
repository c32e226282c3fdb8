// How fast it is with 1,000 nodes that move and 100,000 events. The numbers are printed. What the page's own thread
// works has limits; what a clock shows has none: it depends on what else the machine does, now and in the next second.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { loaded, withPage, workOf } from "./browser";
import { view } from "./server";

interface Frames {
  readonly count: number;
  readonly perSecond: number;
  readonly median: number;
  readonly worst: number;
}

/** The frames of so many milliseconds. */
async function frames(page: Page, milliseconds: number): Promise<Frames> {
  return page.evaluate(
    (span) =>
      new Promise<Frames>((resolve) => {
        const start = performance.now();
        const gaps: number[] = [];
        let last = start;
        const frame = (at: number) => {
          gaps.push(at - last);
          last = at;
          if (at - start < span) return requestAnimationFrame(frame);
          gaps.sort((a, b) => a - b);
          resolve({ count: gaps.length, perSecond: (gaps.length / span) * 1000, median: gaps[gaps.length >> 1], worst: gaps[gaps.length - 1] });
        };
        requestAnimationFrame(frame);
      }),
    milliseconds,
  );
}

test("1,000 nodes and 100,000 events", { timeout: 120_000 }, async () => {
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "large.jsonl");
  writeFileSync(path, execFileSync(process.execPath, ["test/make-moving.mjs", "1000", "100000"], { maxBuffer: 1e9 }));
  const others = loadavg()[0];
  const served = await view(path);
  await withPage(served, { width: 1280, height: 800 }, async (page) => {
    const worked = await workOf(page);
    const start = performance.now();
    await page.goto(served.address);
    await loaded(page);
    const load = (performance.now() - start) / 1000;
    const loading = await worked();
    await page.keyboard.press("Space");
    const playing = await frames(page, 4000);
    await page.keyboard.press("Space");
    const played = await worked();
    const track = (await page.locator(".track").boundingBox())!;
    await page.mouse.move(track.x + 300, track.y + 12);
    await page.mouse.down();
    const scrubbing = frames(page, 3000);
    for (let at = 0; at < 50; at++) {
      await page.mouse.move(track.x + 250 + ((at * 173) % 900), track.y + 12);
      await page.waitForTimeout(40);
    }
    const scrub = await scrubbing;
    await page.mouse.up();
    const scrubbed = await worked();
    const [perFrame, perMove] = [((played - loading) / playing.count) * 1000, ((scrubbed - played) / 50) * 1000];
    const words = ({ perSecond, median, worst }: Frames) => `${perSecond.toFixed(0)} frames a second, median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`;
    console.log(`loaded in ${load.toFixed(1)} s, with ${loading.toFixed(1)} s of a processor for the page, while ${others.toFixed(1)} others wanted to run`);
    console.log(`playing: ${words(playing)}, ${perFrame.toFixed(1)} ms of a processor for each; scrubbing: ${words(scrub)}, ${perMove.toFixed(1)} ms for each move`);
    assert.ok(loading < 3, `loading takes ${loading} s of a processor`);
    assert.ok(perFrame < 33, `a frame takes ${perFrame} ms of a processor`);
    assert.ok(perMove < 100, `a move takes ${perMove} ms of a processor`);
  });
});
