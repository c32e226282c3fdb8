// The page with the real program: a run on a field, and a counterexample.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { drawn, loaded, press, shows, text, until, withPage } from "./browser";
import { WITHOUT_PROGRAM, driftlock, started } from "./server";

const DESK = { width: 1280, height: 800 };
const REAL = { timeout: 120_000, skip: WITHOUT_PROGRAM };

test("a run on a field: scrub, step back, chart", REAL, async () => {
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "field.jsonl");
  driftlock("sim", "--algorithm", "krlf", "--field", "walkers", "--nodes", "20", "--entries", "60", "--warmup", "0", "--replications", "1", "--trace", path);
  const served = await started("view", path);
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    assert.match(await text(page, ".run"), /^krlf · 20 nodes · k = 3/);
    assert.match(await text(page, ".verdict"), /Held to the end/);
    assert.equal(await page.locator(".problems:not([hidden])").count(), 0);
    const track = (await page.locator(".track").boundingBox())!;
    await page.mouse.click(track.x + track.width * 0.7, track.y + 12);
    await drawn(page);
    const told = async () => `${await text(page, ".event .when")} ${await text(page, ".event h2")}`;
    const seen: string[] = [];
    for (let at = 0; at < 12; at++) {
      seen.push(await told());
      await press(page, "ArrowRight");
    }
    for (const before of seen.reverse()) {
      await press(page, "ArrowLeft");
      assert.equal(await told(), before);
    }
    await press(page, "c");
    await page.waitForSelector(".chart .message");
    assert.ok((await page.locator(".chart .life-name").count()) > 1);
    await press(page, "c");
    await press(page, "End");
    assert.match(await text(page, ".event h2"), /The end of the run/);
  });
});

test("neighbourhoods while they run, and as a trace", REAL, async () => {
  const flags = ["--algorithm", "klme", "--neighbourhoods", "4", "--nodes", "24", "--churn", "heavy", "--delay", "0.1", "--load", "1", "--replications", "1"];
  const live = await started("sim", ...flags, "--view", "--port", "0");
  await withPage(live, DESK, async (page) => {
    await page.goto(live.address);
    await until(page, ".run", /^klme · 24 nodes · k = 3 in each of 4 neighbourhoods$/);
    await shows(page, 2);
    await until(page, ".verdict", /Held so far/);
    assert.equal(await page.locator(".problems:visible").count(), 0);
  });
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "areas.jsonl");
  driftlock("sim", ...flags, "--entries", "60", "--warmup", "0", "--trace", path);
  driftlock("replay", path);
  const served = await started("view", path);
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    assert.match(await text(page, ".verdict"), /Held to the end/);
    assert.equal(await page.locator(".problems:visible").count(), 0);
  });
});

test("a counterexample, from its first event to the violation", REAL, async () => {
  const served = await started("check", "krl", "--as-published", "--view");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    assert.match(await text(page, ".verdict"), /Violated at/);
    await press(page, "Home");
    assert.match(await text(page, ".event"), /A counterexample, found by.*driftlock check krl/s);
    let [events, clauses, places] = [0, 0, ""];
    for (let before = ""; ; events++) {
      await press(page, "ArrowRight");
      const told = `${await text(page, ".event .when")} ${await text(page, ".event h2")}`;
      if (told === before) break;
      before = told;
      for (const mark of await page.locator(".deeds li.clause").all()) {
        await mark.locator("summary").click();
        assert.ok(((await mark.locator("blockquote p").first().textContent()) ?? "").length > 10, told);
        places += await mark.locator("blockquote").innerText();
        clauses++;
      }
    }
    assert.ok(events >= 3 && clauses >= 3, `${events} events, ${clauses} clauses`);
    assert.match(places, /When failure of link to j detected, lines 1 to 3/);
    assert.match(await text(page, ".event h2"), /^Violated: /);
    assert.match(await text(page, ".event .meaning"), /Requests go downhill.* Node 2 has no lower neighbour to ask/);
    assert.equal(await page.locator(".verdict.violated").count(), 1);
  });
});

function status(address: string, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    get(new URL(path, address), { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", reject);
  });
}

test("nobody but the page is answered", REAL, async () => {
  const served = await started("view", "test/traces/krl.jsonl");
  try {
    const { origin, host, pathname } = new URL(served.address);
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==" };
    for (const name of ["", "viewer.js", "feed.json", "trace"]) {
      const path = pathname + name;
      assert.equal(await status(served.address, path, {}), 200, path);
      assert.equal(await status(served.address, path, { origin, host }), 200, path);
      assert.equal(await status(served.address, path, { origin: "http://example.org" }), 403, path);
      assert.equal(await status(served.address, path, { origin: "null" }), 403, path);
      assert.equal(await status(served.address, path, { host: "example.org" }), 403, path);
      assert.equal(await status(served.address, `/${name}`, {}), 403, `/${name}`);
      assert.equal(await status(served.address, `/${"0".repeat(32)}/${name}`, {}), 403, name);
    }
    assert.equal(await status(served.address, `${pathname}stream`, { ...upgrade, origin: "http://example.org" }), 403);
  } finally {
    served.close();
  }
});
