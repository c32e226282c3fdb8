import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { tell } from "../../src/model/words";
import { readTrace } from "../reading";
import { drawn, loaded, press, shown, shows, text, until, withPage, workOf } from "./browser";
import { serve, view } from "./server";

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

function file(...lines: readonly (object | string)[]): string {
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "run.jsonl");
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return path;
}

const krl = { algorithm: "krl", k: 1, without: [], tokens: "each", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["krl"] };
const header = { format: "driftlock-trace", version: 4, driftlock: "0.1.0", nodes: 3, links: [[0, 1], [1, 2]], resources: [krl], world: { soak: { seed: 1, crowded: false } } };

test("a trace is loaded, stepped through both ways, scrubbed and played", { timeout: 120_000 }, async () => {
  const served = await view("test/traces/krl.jsonl");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    assert.match(await text(page, ".run"), /^krl · 6 nodes · k = 3/);
    assert.match(await text(page, ".verdict"), /Held to the end/);
    await press(page, "ArrowRight");
    const first = await text(page, ".event h2");
    await press(page, "ArrowRight");
    assert.notEqual(await text(page, ".event .when"), "");
    await press(page, "ArrowLeft");
    assert.equal(await text(page, ".event h2"), first);
    const track = (await page.locator(".track").boundingBox())!;
    await page.mouse.click(track.x + track.width * 0.6, track.y + 12);
    await drawn(page);
    const middle = await shown(page);
    assert.ok(middle > 1);
    await press(page, "Space");
    await shows(page, middle);
    await press(page, "Space");
    const paused = await shown(page);
    await drawn(page);
    assert.ok(paused > middle && (await shown(page)) === paused);
    await press(page, "Home");
    await drawn(page);
    assert.match(await text(page, ".event h2"), /The start/);
  });
});

test("a counterexample shows its violation, and a button leads there", { timeout: 120_000 }, async () => {
  const served = await view("test/traces/krl-deadlock.jsonl");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    assert.match(await text(page, ".verdict"), /Violated at/);
    await page.getByRole("button", { name: "Go there" }).click();
    await drawn(page);
    assert.match(await text(page, ".event h2"), /^Violated: /);
    await press(page, "j");
    await press(page, "j");
    await press(page, "j");
    assert.match(await text(page, ".node .why"), /Why is it waiting\?/);
  });
});

test("a node that was killed is told of, forwards and backwards, with what may be in use of its earlier life", { timeout: 120_000 }, async () => {
  const served = await view("test/traces/krl-restarts.jsonl");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    await press(page, "j");
    const legend = page.locator(".legend li:not([hidden]) .left");
    for (let at = 0; at < 5; at++) await press(page, "ArrowRight");
    assert.equal(await text(page, ".event h2"), "Node 0 was killed, and is back with what it had stored");
    assert.match(await text(page, ".node .section"), /^an application of its earlier life may be in its critical section, since 1\.000$/);
    assert.match(await text(page, ".node .facts"), /0, perhaps, by an application of its earlier life/);
    assert.equal(await legend.count(), 1);
    await press(page, "ArrowRight");
    assert.match(await text(page, ".event .refused"), /^Refused: an application of an earlier life of this node may still use what it was granted$/);
    for (let at = 0; at < 2; at++) await press(page, "ArrowLeft");
    assert.match(await text(page, ".node .section"), /^in its critical section since 1\.000$/);
    assert.equal(await legend.count(), 0);
    await press(page, "c");
    await page.waitForSelector(".chart .bar.left");
  });
});

test("neighbourhoods are areas with units of their own, between which members move", { timeout: 120_000 }, async () => {
  const served = await view("test/traces/klme-neighbourhoods.jsonl");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    assert.match(await text(page, ".run"), /^klme · 12 nodes · k = 2 in each of 3 neighbourhoods$/);
    assert.match(await text(page, ".curve-name.inUse"), /of 3 × k = 2/);
    assert.match(await text(page, ".event"), /klme on 12 nodes, k = 2 in each of 3 neighbourhoods\./);
    assert.equal(await page.locator(".resource:visible").count(), 0, "there is nothing to choose from");
    const trace = readTrace("klme-neighbourhoods");
    const enters = Array.from({ length: trace.length }, (_, at) => at).find((at) => trace.kind(at) === "member" && / enters /.test(tell(trace, at).what))!;
    const node = trace.who.at(enters);
    for (let at = 0; at <= node; at++) await press(page, "j");
    for (let at = 0; at < enters; at++) await page.keyboard.press("ArrowRight");
    await drawn(page);
    assert.match(await text(page, ".node .facts"), /^inno neighbourhood/);
    const before = await page.locator(".map-canvas").screenshot();
    await press(page, "ArrowRight");
    assert.match(await text(page, ".event h2"), new RegExp(`^Node ${node} enters neighbourhood \\d$`));
    assert.match(await text(page, ".node .facts"), /^inneighbourhood \d/);
    assert.ok(!before.equals(await page.locator(".map-canvas").screenshot()), "it is somewhere else now");
    await press(page, "ArrowLeft");
    assert.match(await text(page, ".node .facts"), /^inno neighbourhood/);
  });
});

const hok = { algorithm: "hok", k: 2, without: [], tokens: "one", asks: ["request"], brings: ["token"], hands_over: ["token"], pages: ["hok"] };
const asks = (node: number, t: number, resource: number) => ({ t, node, resource, in: { request: { units: 1, priority: 0 } }, out: [{ clause: "request.1" }], status: { section: "waiting", queue: [node] } });

test("of several resources one is shown, and each is judged; a node that joins has its id", { timeout: 120_000 }, async () => {
  const violation = "node 70000 waits, and without a further change it is not served";
  const served = await view(file({ ...header, resources: [krl, hok] }, asks(1, 1e9, 0), { t: 2e9, join: 70000 }, asks(70000, 3e9, 1), { t: 4e9, link: [2, 70000], up: true, incarnation: 2 }, { end: { steps: 2, t: 5e9, violation, resource: 1 } }));
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    await until(page, ".run", /^krl · 4 nodes · k = 1$/); // shortly after the last line was read, as the list of resources
    assert.deepEqual(await page.locator(".resource option").allTextContents(), ["resource 0, krl, k = 1: held", "resource 1, hok, k = 2: violated"]);
    assert.match(await text(page, ".verdict"), /Violated at 5\.000: node 70000 waits.*\(resource 1, hok, k = 2\)/);
    const told = async (keys: number) => {
      const seen: string[] = [];
      await press(page, "Home");
      for (let at = 0; at < keys; at++) {
        await press(page, "ArrowRight");
        seen.push(await text(page, ".event h2"));
      }
      return seen;
    };
    assert.deepEqual(await told(3), ["Node 1 requests", "Node 70000 joins", "Link 2–70000 forms"]);
    for (let at = 0; at < 4; at++) await press(page, "j");
    assert.match(await text(page, ".node h2"), /^Node 70000$/);
    await press(page, "Home");
    assert.equal(await page.locator(".node:visible").count(), 0, "it is not there yet");
    await page.getByLabel("Resource").selectOption("1");
    await until(page, ".run", /^hok · 4 nodes · k = 2$/);
    assert.deepEqual(await told(3), ["Node 70000 joins", "Node 70000 requests", "Link 2–70000 forms"]);
    await press(page, "ArrowLeft");
    await page.locator(".deeds summary").first().click();
    assert.match(await text(page, ".deeds blockquote cite"), /Jiang/, "the clauses are those of hok's paper");
    await press(page, "r");
    assert.match(await text(page, ".run"), /^krl/);
    await page.getByRole("button", { name: "Go there" }).click();
    await until(page, ".event h2", /^Violated: node 70000 waits/);
    assert.match(await text(page, ".run"), /^hok/, "to where it was violated");
    assert.match(await text(page, ".event .meaning"), /nothing that can still happen serves node 70000/);
  });
});

test("a clause opens to what the paper says", { timeout: 120_000 }, async () => {
  const served = await view("test/traces/hok-counterexample.jsonl");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    await press(page, "ArrowRight");
    await page.locator(".deeds summary", { hasText: "request.1" }).click();
    assert.match(await text(page, ".deeds blockquote"), /enqueues the message REQUEST/);
  });
});

test("the chart shows the messages, and a click on one goes there", { timeout: 120_000 }, async () => {
  const served = await view("test/traces/krl.jsonl");
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    await press(page, "c");
    await page.waitForSelector(".chart .message");
    assert.ok((await page.locator(".chart .message").count()) > 5);
    await page.locator(".chart .message .hit-line").nth(3).dispatchEvent("click");
    await drawn(page);
    assert.match(await text(page, ".event h2"), /receives|Returned|forms|fails|has/);
    await page.getByLabel("Nodes of the chart").fill("0-2");
    await page.getByLabel("Nodes of the chart").press("Enter");
    await drawn(page);
    assert.equal(await page.locator(".chart .life-name").count(), 3);
  });
});

test("on a phone nothing is wider than the screen", { timeout: 120_000 }, async () => {
  for (const name of ["krl", "moving", "krl-deadlock"]) {
    const served = await view(`test/traces/${name}.jsonl`);
    await withPage(served, { ...PHONE, scheme: "dark" }, async (page) => {
      await page.goto(served.address);
      await loaded(page);
      await press(page, "j");
      await drawn(page);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= PHONE.width);
    });
  }
});

test("without a trace the page says what to do, and a chosen file is shown", { timeout: 120_000 }, async () => {
  const served = await serve("dist", null);
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await page.waitForSelector(".card");
    assert.match(await text(page, ".card h1"), /No trace yet/);
    await page.locator("input[type=file]").setInputFiles("test/traces/klme.jsonl");
    await loaded(page);
    assert.match(await text(page, ".run"), /^klme/);
    await page.locator("input[type=file]").setInputFiles({ name: "run.jsonl.zst", mimeType: "application/zstd", buffer: Buffer.from("x") });
    assert.match(await text(page, ".card"), /driftlock view run.jsonl.zst/);
  });
});

test("what is wrong with a file is said in words", { timeout: 120_000 }, async () => {
  const served = await serve("dist", null);
  const cases: readonly (readonly [string, RegExp])[] = [
    [file(""), /[Ff]ile is empty|no first line/],
    [file("hello"), /not JSON/],
    [file({ ...header, version: 9 }), /The trace has version 9 of the format, which driftlock 0\.1\.0 wrote, and this driftlock reads version 4: use the one that wrote it, or record the run again\./],
    [file({ ...header, version: 2, driftlock: undefined }), /version 2 of the format, which driftlock 0\.1\.0 before its release \(commits from 77f8f68 until 1b0d118\) wrote/],
    [file({ ...header, nodes: 1e9 }), /1,000,000,000 nodes/],
  ];
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await page.waitForSelector(".card");
    for (const [path, words] of cases) {
      await page.locator("input[type=file]").setInputFiles(path);
      await until(page, ".card", words);
    }
    await page.locator("input[type=file]").setInputFiles(file(header, '{"t":1,"node":0,"in":"rel'));
    await loaded(page);
    assert.match(await text(page, ".problems"), /ends at line 2 without an end.*Line 2: it is not JSON/s);
  });
});

/** A file with a line of 1 GB in it, between these: a hole, which reads as zeros and takes no room. */
function hugeFile(before: string, after: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "viewer-")), "huge.jsonl");
  const file = openSync(path, "w");
  writeSync(file, before, 0);
  writeSync(file, after, 2 ** 30);
  closeSync(file);
  return path;
}

interface Turns {
  /** How often the page could draw. */
  readonly count: number;
  /** For how many milliseconds it could not, at most; other programs have their part in that. */
  readonly longestPause: number;
}

/** Begins to watch how often the page does something else. */
async function watchTurns(page: Page): Promise<() => Promise<Turns>> {
  await page.addInitScript(() => {
    const seen = { count: 0, longestPause: 0 };
    (window as unknown as { turns: Turns }).turns = seen;
    let last = performance.now();
    const frame = () => {
      seen.count++;
      seen.longestPause = Math.max(seen.longestPause, performance.now() - last);
      last = performance.now();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return () => page.evaluate(() => (window as unknown as { turns: Turns }).turns);
}

function pauseWords(milliseconds: number): string {
  return `did nothing else for ${milliseconds.toFixed(0)} ms at most`;
}

test("a line of 1 GB is passed over, in words, and the page stays alive", { timeout: 240_000 }, async () => {
  const [head, step, end] = [header, { t: 1e9, node: 0, in: "release", out: [] }, { end: { steps: 1 } }].map((line) => JSON.stringify(line));
  const path = hugeFile(`${head}\n{"t":5,"node":0,"in":"`, `"}\n${step}\n${end}\n`);
  const all = hugeFile("", "x");
  const served = await view(path);
  await withPage(served, DESK, async (page) => {
    const [turns, worked] = [await watchTurns(page), await workOf(page)];
    const start = performance.now();
    await page.goto(served.address);
    await page.locator(".problems:visible", { hasText: "longer than 16 MB" }).waitFor();
    assert.match(await text(page, ".problems"), /1 line is not as it should be\..*Line 2: it is longer than 16 MB, and was passed over\./s);
    await press(page, "ArrowRight");
    assert.match(await text(page, ".event h2"), /Node 0 releases/);
    const [seconds, { longestPause }] = [(performance.now() - start) / 1000, await turns()];
    console.log(`a line of 1 GB: ${seconds.toFixed(1)} s, and the page ${pauseWords(longestPause)}`);
    await page.locator("input[type=file]").setInputFiles(all);
    await until(page, ".card", /first line is longer than 16 MB: this is no trace/);
    const [work, { count }] = [await worked(), await turns()];
    console.log(`twice that: ${work.toFixed(1)} s of a processor for the page, which could draw ${count} times`);
    // It reads for 30 ms at most before it lets the page draw (src/trace/load.ts).
    assert.ok(work / count < 0.03, `${work} s of work and only ${count} frames`);
    for (const huge of [path, all]) rmSync(huge);
  });
});

test("markup in a trace is never run", { timeout: 120_000 }, async () => {
  const evil = "<img src=x onerror=alert(1)><script>alert(1)</script>";
  const step = { t: 1e9, node: 0, in: { [evil]: 1 }, out: [{ clause: evil }, { send: { to: 1, message: { [evil]: {} } } }], refused: evil };
  const path = file({ ...header, algorithm: evil, without: [evil] }, step, { t: 2e9, fault: evil, is: { kind: evil } }, { end: { steps: 1, violation: evil } });
  const served = await view(path);
  await withPage(served, DESK, async (page) => {
    await page.goto(served.address);
    await loaded(page);
    for (let at = 0; at < 4; at++) {
      await press(page, "ArrowRight");
      await press(page, "c");
      await drawn(page);
    }
    assert.equal(await page.locator("img, body script").count(), 0);
    assert.match(await text(page, ".verdict"), /<img src=x/);
  });
});

test("numbers that nobody has seen neither break the page nor hold it up", { timeout: 120_000 }, async () => {
  const [nodes, far] = [20_000, 1e9];
  const field = { width: far, height: far, range: far, sites: Array.from({ length: 300 }, (_, at) => [at * 1e6, far]), reach: far };
  const many = Array.from({ length: 200_000 }, (_, at) => at);
  const path = file(
    { ...header, nodes, links: many.slice(0, 50_000).map((at) => [at % nodes, (at * 7919 + 1) % nodes]), resources: [{ ...krl, k: 1e9 }], field },
    { t: 0, move: 0, at: [far, -far], velocity: [far, far] },
    { t: 1, node: 0, in: { request: { units: 1e300, priority: -1e300, deadline: 1e308 } }, out: [], status: { section: "waiting", queue: many.map((at) => at % nodes), waits_on: [1] } },
    { t: 2, node: 1, in: "release", out: [{ grant: { permits: many } }, { send: { to: 2, message: { token: { token: { free: many } } } } }], status: { section: "critical", permits: many, height: [1e308, -1e308, 1] } },
    { t: 3, fault: 1, is: { kind: "jam", disc: { centre: [0, 0], radius: far } } },
    { t: Number.MAX_SAFE_INTEGER, node: 2, in: "release", out: many.slice(0, 5000).map((to) => ({ send: { to, message: "x" } })) },
    { end: { steps: 1e300, t: Number.MAX_SAFE_INTEGER, violation: `nodes [${many.join(", ")}] wait and are not served although nothing changes any more` } },
  );
  const served = await view(path);
  await withPage(served, DESK, async (page) => {
    const [turns, worked] = [await watchTurns(page), await workOf(page)];
    await page.goto(served.address);
    await loaded(page);
    for (const key of ["j", "ArrowRight", "ArrowRight", "c", "ArrowRight", "j", "c", "ArrowRight", "l", "ArrowRight", "Home", "End", "v"]) await press(page, key);
    await press(page, "Space");
    await page.mouse.move(300, 300);
    await shows(page, 0.3);
    assert.match(await text(page, ".verdict"), /Violated at 9,007,199\.255/);
    const [work, { longestPause }] = [await worked(), await turns()];
    const words = `${work.toFixed(1)} s of a processor for the page, which ${pauseWords(longestPause)}`;
    console.log(`20,000 nodes and lists of 200,000: ${words}`);
    assert.ok(work < 5, `the page worked for ${work} s`);
  });
});
