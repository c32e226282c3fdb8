// A browser for the tests. Every page is watched: an error in the console fails the test that caused it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type BrowserContext, type Page, chromium } from "playwright-core";
import type { Served } from "./server";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Milliseconds after which a test gives up. It measures nothing: a machine may be as busy as it likes. */
const PATIENCE = 60_000;

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme?: "light" | "dark";
}

/**
 * Runs with a fresh browser, and ends the server whatever happens: one that goes on would keep the tests from ending.
 */
export async function withPage(served: Served, look: Look, run: (page: Page) => Promise<void>): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), "viewer-"));
  const context: BrowserContext = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width: look.width, height: look.height },
    colorScheme: look.scheme ?? "light",
    args: FLAGS,
  });
  try {
    const page = context.pages()[0];
    page.setDefaultTimeout(PATIENCE);
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      // What is not there, such as feed.json, is no fault of the page.
      if (message.type() === "error" && !message.text().includes("404") && !message.text().includes("WebSocket")) errors.push(message.text());
    });
    if (process.env.PAGE === "dist") await replacePage(page);
    page.on("dialog", () => errors.push("a script of a trace was run"));
    await run(page);
    assert.deepEqual(errors, []);
  } finally {
    served.close();
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** The page as it was built last, whatever page the program was built with. */
async function replacePage(page: Page): Promise<void> {
  await page.route(/\/(viewer\.js|viewer\.css|clauses\.json)$/, async (route) => {
    const name = route.request().url().split("/").at(-1)!;
    await route.fulfill({ response: await route.fetch(), body: readFileSync(`dist/${name}`) });
  });
}

/** Until the whole file has been read. */
export async function loaded(page: Page): Promise<void> {
  await until(page, ".verdict-words", /Held|Violated|No violation/);
}

type Found<T> = T | null | false;

/** What this finds, as soon as it finds something. */
export async function eventually<T>(what: string, find: () => Found<T> | Promise<Found<T>>): Promise<T> {
  for (const start = performance.now(); performance.now() - start < PATIENCE; await setTimeout(20)) {
    const found = await find();
    if (found !== null && found !== false) return found;
  }
  throw new Error(`in ${PATIENCE / 1000} s it did not come about that ${what}`);
}

/** Until the words somewhere are like this. */
export async function until(page: Page, selector: string, words: RegExp): Promise<void> {
  await page.waitForFunction(
    ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ""),
    [selector, words.source] as const,
  );
}

/** Until the page shows an instant after so many seconds. */
export async function shows(page: Page, seconds: number): Promise<void> {
  await page.waitForFunction(
    (least) => Number(document.querySelector(".track")?.getAttribute("aria-valuenow")) > least,
    seconds,
  );
}

/** The instant that the page shows, in seconds. */
export async function shown(page: Page): Promise<number> {
  return Number(await page.locator(".track").getAttribute("aria-valuenow"));
}

/** Presses a key, and waits until the page has drawn what follows from it: it draws once a frame. */
export async function press(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await drawn(page);
}

export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Begins to count what the page's own thread works: seconds of a processor, which other programs make no more of. */
export async function workOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value;
  };
}

export async function text(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent()) ?? "";
}
