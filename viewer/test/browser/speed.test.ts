// How fast it is with 1,000 nodes that move and 100,000 events. The numbers are printed; the limits are loose, because the
// machines that run tests are busy and have no graphics card.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { loaded, withPage } from "./browser";
import { view } from "./server";

interface Frames {
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
          resolve({ perSecond: (gaps.length / span) * 1000, median: gaps[gaps.length >> 1], worst: gaps[gaps.length - 1] });
        };
        requestAnimationFrame(frame);
      }),
    milliseconds,
  );
}

/** Seconds of a processor that the page's own thread has had so far: other programs make a test slower, not this. */
async function worked(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
}

test("1,000 nodes and 100,000 events", { timeout: 120_000 }, async () => {
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "large.jsonl");
  writeFileSync(path, execFileSync(process.execPath, ["test/make-moving.mjs", "1000", "100000"], { maxBuffer: 1e9 }));
  const served = await view(path);
  await withPage(served, { width: 1280, height: 800 }, async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const start = performance.now();
    await page.goto(served.address);
    await loaded(page);
    const load = performance.now() - start;
    const loading = await worked(session);
    await page.keyboard.press("Space");
    const playing = await frames(page, 4000);
    await page.keyboard.press("Space");
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
    const words = ({ perSecond, median, worst }: Frames) => `${perSecond.toFixed(0)} frames a second, median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`;
    console.log(`loaded in ${(load / 1000).toFixed(1)} s, with ${loading.toFixed(1)} s of a processor for the page, while ${loadavg()[0].toFixed(1)} others wanted to run; playing: ${words(playing)}; scrubbing: ${words(scrub)}`);
    assert.ok(load < 20_000 && playing.perSecond > 5 && scrub.median < 200);
  });
});
