// A browser for the tests. Every page is watched: an error in the console fails the test that caused it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, type Page, chromium } from "playwright-core";
import type { Served } from "./server";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export interface Look {
  readonly width: number;
  readonly height: number;
  readonly scheme?: "light" | "dark";
}

/** Runs with a fresh browser, and ends the server whatever happens: one that goes on would keep the tests from ending. */
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
  await page.waitForFunction(() => /Held|Violated|No violation/.test(document.querySelector(".verdict-words")?.textContent ?? ""), null, { timeout: 60_000 });
}

/** Presses a key, and waits until the page has drawn what follows from it: it draws once a frame. */
export async function press(page: Page, key: string): Promise<void> {
  await page.keyboard.press(key);
  await drawn(page);
}

export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

export async function text(page: Page, selector: string): Promise<string> {
  return (await page.locator(selector).first().textContent()) ?? "";
}
