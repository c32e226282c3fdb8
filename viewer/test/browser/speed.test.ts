// How fast it is with 1,000 nodes that move and 100,000 events. The numbers are printed. What the page's own thread works has limits on
// any machine; what a clock shows has the same ones if the machine has nothing else to do, and loose ones if it has.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import { loaded, withPage } from "./browser";
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

/** Seconds of a processor that the page's own thread has had so far: other programs make a test slower, not this. */
async function worked(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
}

test("1,000 nodes and 100,000 events", { timeout: 120_000 }, async () => {
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "large.jsonl");
  writeFileSync(path, execFileSync(process.execPath, ["test/make-moving.mjs", "1000", "100000"], { maxBuffer: 1e9 }));
  const others = loadavg()[0];
  const quiet = others < cpus().length / 2;
  const served = await view(path);
  await withPage(served, { width: 1280, height: 800 }, async (page) => {
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const start = performance.now();
    await page.goto(served.address);
    await loaded(page);
    const load = (performance.now() - start) / 1000;
    const loading = await worked(session);
    await page.keyboard.press("Space");
    const playing = await frames(page, 4000);
    await page.keyboard.press("Space");
    const played = await worked(session);
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
    const scrubbed = await worked(session);
    const [perFrame, perMove] = [((played - loading) / playing.count) * 1000, ((scrubbed - played) / 50) * 1000];
    const words = ({ perSecond, median, worst }: Frames) => `${perSecond.toFixed(0)} frames a second, median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms`;
    console.log(`loaded in ${load.toFixed(1)} s, with ${loading.toFixed(1)} s of a processor for the page, while ${others.toFixed(1)} others wanted to run`);
    console.log(`playing: ${words(playing)}, ${perFrame.toFixed(1)} ms of a processor for each; scrubbing: ${words(scrub)}, ${perMove.toFixed(1)} ms for each move`);
    assert.ok(loading < 3 && load < (quiet ? 3 : 20), `loaded in ${load} s`);
    assert.ok(perFrame < 33 && playing.perSecond > (quiet ? 20 : 5), `${playing.perSecond} frames a second`);
    assert.ok(perMove < 100 && scrub.median < (quiet ? 50 : 200) && scrub.worst < (quiet ? 250 : 2000), `${scrub.worst} ms without a frame`);
  });
});
