// The page: its parts, and the clock that keeps them at the same instant.
import { Feed } from "../feed";
import { parseDemo } from "../model/demo";
import { listWords } from "../model/words";
import { BOTH_ENDS, type State, cutsOf, linkedTo } from "../model/state";
import type { Fields, Point } from "../trace/record";
import type { Trace } from "../trace/trace";
import { ChartView } from "./chart-view";
import { Clauses } from "./clauses";
import { DemoPanel } from "./demo-panel";
import { button, el, say } from "./dom";
import { EventPanel } from "./event-panel";
import { Keys } from "./keys";
import { Legend } from "./legend";
import { LogPanel } from "./log-panel";
import { MapView } from "./map";
import { type LinkLook, NodePanel, sectionWords } from "./node-panel";
import { Notices } from "./notices";
import { Player, SPEEDS } from "./player";
import { ResourceChoice } from "./resource-choice";
import { ThemeSwitch } from "./theme";
import { Timeline } from "./timeline";
import { Verdict } from "./verdict";

/** Milliseconds between two turns of the panels while the run plays: nobody reads faster. */
const PANEL_PAUSE = 120;
/** Nanoseconds, at the pace of life, for which a token's way and a grant are still seen. */
const GLOW = 0.9e9;
/** Metres that a key moves a node. */
const NUDGE = 20;
/** Milliseconds between two turns of the curves while lines arrive. */
const CURVES_PAUSE = 400;

export class App {
  readonly #root: HTMLElement;
  readonly #player = new Player();
  readonly #clauses = new Clauses();
  readonly #feed: Feed;
  readonly #map: MapView;
  readonly #timeline: Timeline;
  readonly #verdict = new Verdict(() => this.#toViolation());
  readonly #event = new EventPanel(this.#clauses, (node) => this.#select(node));
  readonly #legend = new Legend();
  readonly #log = new LogPanel((index) => this.#act(() => this.#player.goTo(index)));
  readonly #node = new NodePanel({ select: (node) => this.#select(node), selectLink: (ends) => this.#selectLink(ends) });
  readonly #chart = new ChartView((index) => this.#act(() => this.#player.goTo(index)), () => this.#act(() => undefined));
  readonly #tabs = { map: button("Map", { class: "tab" }), chart: button("Sequence", { class: "tab" }) };
  readonly #demo = new DemoPanel({ command: (command) => this.#feed.command(command), jamming: (on) => (this.#map.jamming = on), placeOf: (node) => this.#placeOf(node) });
  readonly #notices: Notices;
  readonly #keys: Keys;
  readonly #theme: ThemeSwitch;
  readonly #title = el("span", { class: "run" });
  readonly #resources = new ResourceChoice((resource) => this.#showResource(resource));
  readonly #tip = el("div", { class: "tip", attrs: { role: "tooltip" } });
  readonly #chooser = el("input", { attrs: { type: "file", accept: ".jsonl,.json,.zst", hidden: "" } });
  #trace: Trace | null = null;
  #live = false;
  #loading = false;
  #selected: number | null = null;
  #selectedLink: readonly [number, number] | null = null;
  #charting = false;
  #brush: readonly [number, number] | null = null;
  #dirty = true;
  #frameAt = 0;
  #panelsAt = 0;
  #curvesAt = 0;
  #grown = false;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#notices = new Notices(() => this.#chooser.click(), () => this.#feed.connect());
    this.#theme = new ThemeSwitch(() => this.#recolour());
    this.#map = new MapView(this.#mapActions());
    this.#timeline = new Timeline({
      toggle: () => this.#act(() => this.#player.toggle(this.#goesOn)),
      step: (direction) => this.#act(() => this.#player.step(direction)),
      toStart: () => this.#act(() => this.#player.goTo(-1)),
      toEnd: () => this.#act(() => this.#player.toEnd(this.#goesOn)),
      toViolation: () => this.#toViolation(),
      seek: (now) => this.#act(() => this.#player.seek(now)),
      speed: (speed) => this.#setSpeed(speed),
      brush: (range) => this.#act(() => {
        this.#brush = range;
        if (range) this.#showChart(true);
      }),
    });
    this.#keys = new Keys(this.#keyActions());
    this.#feed = new Feed(this.#feedEvents());
  }

  async start(): Promise<void> {
    this.#build();
    this.#listen();
    requestAnimationFrame((at) => this.#frame(at));
    await this.#clauses.load();
    await this.#feed.start();
  }

  #build(): void {
    const head = el("header", { class: "head" },
      el("h1", { class: "brand", text: "driftlock" }), this.#resources.element, this.#title, this.#verdict.element, el("span", { class: "spring" }),
      button("Open…", { label: "Open a trace", onclick: () => this.#chooser.click() }),
      button("◐", { label: "Light or dark", attrs: { title: "Light or dark" }, onclick: () => this.#theme.toggle() }),
      button("?", { label: "Keys", attrs: { title: "Keys" }, onclick: () => this.#keys.help.showModal() }));
    const stage = el("div", { class: "view" }, this.#map.canvas, this.#legend.element, this.#tip, this.#chart.element,
      el("div", { class: "tabs", label: "View", attrs: { role: "group" } }, this.#tabs.map, this.#tabs.chart), this.#notices.stage);
    const side = el("aside", { class: "side" }, this.#demo.element, this.#node.element, this.#event.element, this.#log.element);
    this.#root.append(head, this.#notices.bar, el("main", { class: "main" }, stage, side), this.#timeline.element, this.#keys.help, this.#chooser);
    this.#tip.hidden = true;
    this.#tabs.map.addEventListener("click", () => this.#showChart(false));
    this.#tabs.chart.addEventListener("click", () => this.#showChart(true));
    this.#showChart(false);
    this.#notices.stage.hidden = true;
    this.#verdict.element.hidden = true;
    this.#root.classList.add("idle");
  }

  #listen(): void {
    this.#chooser.addEventListener("change", () => {
      const file = this.#chooser.files?.[0];
      if (file) void this.#feed.open(file);
      this.#chooser.value = "";
    });
    this.#root.addEventListener("dragover", (event) => event.preventDefault());
    this.#root.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.#feed.open(file);
    });
  }

  #act(what: () => void): void {
    what();
    this.#dirty = true;
    this.#panelsAt = 0;
  }

  #mapActions() {
    return {
      changed: () => void (this.#dirty = true),
      select: (node: number | null) => this.#select(node),
      gather: (node: number) => this.#act(() => {
        const chosen = this.#trace ? this.#chart.toggle(node, this.#trace.roster) : [];
        this.#notices.brief(chosen.length > 0 ? `The chart shows ${chosen.length === 1 ? "node" : "nodes"} ${listWords(chosen)}.` : "The chart shows whoever takes part.");
      }),
      selectLink: (ends: readonly [number, number] | null) => this.#selectLink(ends),
      hover: () => void (this.#dirty = true),
      canDrag: () => this.#demo.canAct && this.#trace?.header.field != null,
      drag: (node: number, to: Point) => this.#feed.command({ drag: { node: this.#idOf(node), to: [...to] } }),
      jam: (centre: Point, radius: number) => {
        this.#feed.command({ jam: { centre: [...centre], radius } });
        this.#demo.jam(false);
      },
    };
  }

  #keyActions() {
    return {
      toggle: () => this.#act(() => this.#player.toggle(this.#goesOn)),
      step: (direction: 1 | -1) => this.#act(() => this.#player.step(direction)),
      toStart: () => this.#act(() => this.#player.goTo(-1)),
      toEnd: () => this.#act(() => this.#player.toEnd(this.#goesOn)),
      toViolation: () => this.#toViolation(),
      selectNext: (direction: 1 | -1) => this.#selectNext(direction),
      selectLink: (direction: 1 | -1) => this.#selectNextLink(direction),
      deselect: () => this.#select(null),
      acts: () => this.#node.element.querySelector<HTMLElement>(".node-acts button:enabled")?.focus(),
      nudge: (x: number, y: number) => this.#nudge(x, y),
      faster: (direction: 1 | -1) => {
        const at = SPEEDS.indexOf(this.#player.speed) + direction;
        this.#setSpeed(SPEEDS[Math.max(0, Math.min(at, SPEEDS.length - 1))]);
      },
      fit: () => this.#act(() => this.#map.fit()),
      chart: () => this.#showChart(!this.#charting),
      nextResource: () => this.#showResource(((this.#trace?.shown ?? 0) + 1) % (this.#trace?.header.resources.length ?? 1)),
    };
  }

  #feedEvents() {
    return {
      trace: (trace: Trace, live: boolean) => this.#adopt(trace, live),
      grown: () => void (this.#grown = true),
      progress: (name: string, progress: { bytes: number; total: number | null; lines: number }) => {
        this.#loading = true;
        this.#grown = true;
        this.#notices.progress(name, progress);
      },
      loaded: (trace: Trace) => {
        this.#loading = false;
        this.#grown = true;
        this.#curvesAt = 0;
        this.#notices.loaded(trace, false);
      },
      failed: (title: string, reason: string) => this.#fail(title, reason),
      nothing: () => this.#notices.empty(),
      connection: (state: "open" | "lost" | "retrying") => {
        if (!this.#trace) this.#notices.waiting();
        if (state !== "retrying") this.#notices.connection(state === "open");
      },
      demo: (settings: Fields) => {
        const demo = parseDemo(settings);
        this.#demo.show(demo);
        if (this.#player.following) this.#player.speed = demo.speed;
        this.#act(() => undefined);
      },
      refused: (reason: string) => this.#notices.brief(reason),
      told: (words: string) => this.#notices.tell(words),
    };
  }

  #adopt(trace: Trace, live: boolean): void {
    this.#trace = trace;
    this.#live = live;
    if (!live) this.#demo.show(null);
    this.#selected = null;
    this.#selectedLink = null;
    this.#brush = null;
    this.#player.adopt(trace, live);
    this.#notices.clear();
    this.#root.classList.remove("idle");
    this.#event.forget();
    this.#log.forget();
    this.#timeline.adopt(trace);
    this.#resources.show(trace);
    this.#entitle(trace);
    this.#act(() => undefined);
  }

  #entitle({ resource, roster }: Trace): void {
    const { algorithm, k, without, neighbourhoods } = resource;
    const places = neighbourhoods.length > 1 ? ` in each of ${neighbourhoods.length} neighbourhoods` : "";
    const repairs = without.length === 0 ? "" : ` · without ${without.length === 1 ? without[0] : `${without.length} repairs`}`;
    say(this.#title, `${algorithm} · ${roster.size.toLocaleString("en-GB")} nodes · k = ${k.toLocaleString("en-GB")}${places}${repairs}`);
  }

  /** The same instant of the same run, with another of the resources. */
  #showResource(resource: number): void {
    const trace = this.#trace;
    if (!trace) return;
    this.#act(() => {
      trace.show(resource);
      this.#resources.show(trace);
      this.#entitle(trace);
      this.#timeline.grown();
    });
  }

  #fail(title: string, reason: string): void {
    this.#trace = null;
    this.#loading = false;
    this.#root.classList.add("idle");
    say(this.#title, "");
    this.#verdict.show(null, false, false);
    this.#resources.show(null);
    this.#notices.failed(title, reason);
  }

  #select(node: number | null): void {
    this.#act(() => {
      this.#selected = node;
      this.#selectedLink = null;
    });
  }

  /** The first end is the node that it was chosen from, and from where one goes on. */
  #selectLink(ends: readonly [number, number] | null): void {
    this.#act(() => {
      this.#selected = null;
      this.#selectedLink = ends;
    });
  }

  /**
   * From a node to its first or last link, from there to the next one of the same node, and from the last one back to
   * the node.
   */
  #selectNextLink(direction: 1 | -1): void {
    const from = this.#selectedLink?.[0] ?? this.#selected;
    if (!this.#trace || from === null) return;
    const others = linkedTo(this.#trace.stateAt(this.#player.index), this.#trace.table, from);
    const stops = [null, ...others];
    const at = stops.indexOf(this.#selectedLink?.[1] ?? null);
    const next = stops[(Math.max(at, 0) + direction + stops.length) % stops.length];
    if (next === null) this.#select(from);
    else this.#selectLink([from, next]);
  }

  #idOf(place: number): number {
    return this.#trace?.roster.idOf(place) ?? place;
  }

  #placeOf(node: number): Point | null {
    return this.#trace?.stateAt(this.#player.index).placeOf(node, this.#player.now) ?? null;
  }

  /** Moves the selected node by so many steps, as dragging would. */
  #nudge(x: number, y: number): void {
    const [at, field] = [this.#selected === null ? null : this.#placeOf(this.#selected), this.#trace?.header.field];
    if (!at || !field || !this.#demo.canAct) return;
    const within = (value: number, most: number) => Math.max(0, Math.min(value, most));
    this.#feed.command({ drag: { node: this.#idOf(this.#selected!), to: [within(at[0] + x * NUDGE, field.width), within(at[1] + y * NUDGE, field.height)] } });
  }

  get #goesOn(): boolean {
    return this.#live && this.#trace?.end === null;
  }

  /** Whoever goes with a live run changes the pace of the run itself. */
  #setSpeed(speed: number): void {
    if (this.#live && this.#player.following) this.#feed.command({ speed });
    else this.#act(() => (this.#player.speed = speed));
  }

  #selectNext(direction: 1 | -1): void {
    const nodes = this.#trace?.stateAt(this.#player.index).nodes.length ?? 0;
    if (nodes === 0) return;
    const from = this.#selected ?? this.#selectedLink?.[0] ?? (direction === 1 ? -1 : 0);
    this.#select((from + direction + nodes) % nodes);
  }

  #toViolation(): void {
    const trace = this.#trace;
    if (!trace?.end?.violation) return;
    if (trace.end.about !== trace.shown) this.#showResource(trace.end.about);
    this.#act(() => this.#player.goTo(trace.length - 1));
  }

  #showChart(charting: boolean): void {
    this.#act(() => {
      this.#charting = charting;
      this.#chart.element.hidden = !charting;
      this.#tabs.map.setAttribute("aria-pressed", String(!charting));
      this.#tabs.chart.setAttribute("aria-pressed", String(charting));
    });
  }

  #recolour(): void {
    this.#map.recolour();
    this.#timeline.recolour();
    this.#dirty = true;
  }

  #frame(at: number): void {
    requestAnimationFrame((next) => this.#frame(next));
    const passed = Math.min(100, at - this.#frameAt);
    this.#frameAt = at;
    if (!this.#trace) return;
    if (this.#grown && at - this.#curvesAt > CURVES_PAUSE) {
      this.#grown = false;
      this.#curvesAt = at;
      this.#timeline.grown();
      this.#resources.show(this.#trace);
      this.#entitle(this.#trace);
      if (this.#live) this.#notices.loaded(this.#trace, true);
      this.#dirty = true;
    }
    if (this.#player.pass(passed)) this.#dirty = true;
    if (!this.#dirty) return;
    this.#dirty = false;
    this.#draw(this.#trace, at);
  }

  #draw(trace: Trace, at: number): void {
    const { index, now } = this.#player;
    const state = trace.stateAt(index);
    this.#leaveNewcomers(state);
    const moving = this.#player.playing || this.#player.following;
    if (!moving || at - this.#panelsAt > PANEL_PAUSE) {
      this.#panelsAt = at;
      this.#showSelected(trace, state);
      this.#legend.show(state, this.#selected);
      this.#event.show(trace, shownEvent(trace, index));
      this.#log.show(trace, shownEvent(trace, index));
      this.#verdict.show(trace, this.#live, this.#loading);
      this.#demo.ended(this.#live && trace.end !== null);
      if (this.#charting) this.#chart.show(trace, shownEvent(trace, index), this.#brush);
    }
    const current = index >= 0 && !trace.isQuiet(index) ? trace.who.at(index) : -1;
    this.#map.draw({ trace, state, now, glow: GLOW * (moving ? this.#player.speed : Math.min(1, this.#player.speed)), selected: this.#selected, selectedLink: this.#selectedLink, why: this.#node.why, current: current < 0 ? null : current });
    this.#timeline.draw(this.#player, this.#goesOn);
    this.#showTip(trace, index);
  }

  /** Before a node has joined there is nothing to be seen of it. */
  #leaveNewcomers(state: State): void {
    const isThere = (place: number) => place < state.nodes.length;
    if (this.#selected !== null && !isThere(this.#selected)) this.#selected = null;
    if (this.#selectedLink && !this.#selectedLink.every(isThere)) this.#selectedLink = null;
    if (this.#map.hovered !== null && !isThere(this.#map.hovered)) this.#map.hovered = null;
  }

  #showSelected(trace: Trace, state: State): void {
    const ends = this.#selectedLink;
    if (!ends) return this.#node.show(state, this.#selected, `${state.index} ${this.#demo.canAct}`, (node) => linkedTo(state, trace.table, node), (node) => this.#demo.nodeButtons(state, node));
    const look = linkLook(trace, state, ends);
    this.#node.showLink(trace.roster, ends, look, this.#demo.linkButtons(trace.roster.idsOf(ends), look === "cut"));
  }

  #showTip(trace: Trace, index: number): void {
    const id = this.#map.hovered;
    this.#tip.hidden = id === null;
    if (id === null) return;
    const state = trace.stateAt(index);
    const node = state.nodes[id];
    const { roster } = trace;
    const queue = node.queue.length > 0 ? `queue ${roster.idsOf(node.queue.slice(0, 10)).join(", ")}${node.queue.length > 10 ? ", …" : ""}` : "queue empty";
    const waits = node.waitsOn.length > 0 ? ` · waits on ${roster.idOf(node.waitsOn[0])}` : "";
    this.#tip.replaceChildren(el("b", { text: `Node ${roster.idOf(id)}` }), ` ${sectionWords(state, id)}`, el("br"), `${queue}${waits}`);
    const [x, y] = this.#map.pixel(id);
    this.#tip.style.transform = `translate(${Math.max(4, Math.min(x + 16, this.#map.camera.width - 230))}px, ${Math.max(4, Math.min(y + 14, this.#map.camera.height - 60))}px)`;
  }
}

function linkLook(trace: Trace, state: State, [a, b]: readonly [number, number]): LinkLook {
  if (cutsOf(state).some((ends) => ends.includes(a) && ends.includes(b))) return "cut";
  const known = state.links[trace.table.find(a, b) ?? -1] ?? 0;
  return known === BOTH_ENDS ? "there" : known > 0 ? "half" : "none";
}

/** The panel tells the last line at which one would stop: a change of direction says nothing. */
function shownEvent(trace: Trace, index: number): number {
  return index >= 0 && trace.isQuiet(index) ? trace.stop(index, -1) : index;
}
