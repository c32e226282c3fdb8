// The controls of a run that is still going on.
import type { Demo } from "../model/demo";
import { type State, isDown } from "../model/state";
import type { Fields, Point } from "../trace/record";
import { button, el, say } from "./dom";
import { SPEEDS } from "./player";

export interface DemoActions {
  command(command: Fields): void;
  /** Whether the next circle on the map is a jammed area. */
  jamming(on: boolean): void;
  /** Where a node is now. */
  placeOf(node: number): Point | null;
}

/** Metres around a node that are jammed without a pointer. */
const JAM_RADIUS = 100;

export class DemoPanel {
  readonly element = el("section", { class: "panel demo", label: "Controls of the run" });
  readonly #actions: DemoActions;
  readonly #hold = button("Hold the clock");
  readonly #speed = el("select", { label: "Speed of the run" });
  readonly #jam = button("Jam an area", { attrs: { "aria-pressed": "false", title: "Then drag a circle on the map: no message gets through in it" } });
  readonly #algorithm = el("select", { label: "Algorithm" });
  readonly #repairs = el("div", { class: "repairs" });
  readonly #intro = el("div", { class: "intro" });
  readonly #clock = el("div", { class: "line" });
  readonly #again = el("div", { class: "line" });
  readonly #acts: HTMLElement;
  readonly #setting = el("details", { class: "setting" });
  readonly #set = el("summary");
  #demo: Demo | null = null;
  #off = new Set<string>();

  constructor(actions: DemoActions) {
    this.#actions = actions;
    this.element.hidden = true;
    for (const speed of SPEEDS) this.#speed.append(el("option", { text: `${speed}×`, attrs: { value: String(speed) } }));
    this.#speed.addEventListener("change", () => actions.command({ speed: Number(this.#speed.value) }));
    this.#hold.addEventListener("click", () => actions.command({ hold: !this.#demo?.isHeld }));
    this.#jam.addEventListener("click", () => this.jam(this.#jam.getAttribute("aria-pressed") !== "true"));
    this.#algorithm.addEventListener("change", () => this.#chooseAlgorithm());
    this.#acts = el("div", { class: "line" }, this.#jam, button("End jams and cuts", { onclick: () => actions.command({ clear: true }) }));
    this.#clock.append(this.#hold, el("label", { class: "pace" }, "speed ", this.#speed));
    this.#again.append(el("span", { text: "The run has ended." }), this.#restart("Start again"));
    this.#again.hidden = true;
    this.element.append(this.#intro, this.#again, this.#clock, this.#acts, this.#setting);
    this.#fillSetting();
  }

  #restart(words: string): HTMLElement {
    return button(words, { class: "primary", onclick: () => this.#actions.command({ restart: { algorithm: this.#algorithm.value, without: [...this.#off] } }) });
  }

  /** Nothing can be done to a run that has ended, but to begin another. */
  ended(isOver: boolean): void {
    this.#again.hidden = !isOver || !this.canAct;
    this.#clock.hidden = isOver;
    this.#acts.hidden = isOver || !this.canAct;
  }

  #fillSetting(): void {
    this.#setting.append(this.#set, el("label", { class: "line wide" }, el("span", { text: "algorithm" }), this.#algorithm),
      el("p", { class: "quiet", text: "What was added to the paper’s text, and what for. Switch one off, restart, and watch:" }), this.#repairs,
      el("div", { class: "line" }, this.#restart("Restart"), el("span", { class: "quiet", text: "with these settings" })));
  }

  /** What a newcomer has to know. */
  #introduce(demo: Demo): void {
    const docks = `${demo.k.toLocaleString("en-GB")} ${demo.k === 1 ? "dock" : "docks"}`;
    const how = demo.algorithms.find(({ tag }) => tag === demo.algorithm)?.how ?? "";
    const what = el("p", { text: `${how} Every event is checked: never more docks in use than there are, and none forgotten.` });
    const tries = el("ul", {}, el("li", { text: "Click a node (or press j): let it ask, crash it, pause it." }), el("li", { text: "Drag a node, click a link to cut it, jam an area." }));
    this.#intro.replaceChildren(el("h2", { text: demo.canAct ? `${demo.nodes.toLocaleString("en-GB")} nodes share ${docks}` : "A simulation as it runs" }), ...(demo.canAct ? [what, tries] : []));
  }

  get canAct(): boolean {
    return this.#demo?.canAct ?? false;
  }

  show(demo: Demo | null): void {
    const restarted = demo?.algorithm !== this.#demo?.algorithm || demo?.without.join() !== this.#demo?.without.join();
    this.#demo = demo;
    this.element.hidden = demo === null;
    if (!demo) return this.jam(false);
    say(this.#hold, demo.isHeld ? "Let the clock go" : "Hold the clock");
    this.#hold.classList.toggle("on", demo.isHeld);
    if (!SPEEDS.includes(demo.speed) && ![...this.#speed.options].some((option) => Number(option.value) === demo.speed)) {
      this.#speed.append(el("option", { text: `${demo.speed}×`, attrs: { value: String(demo.speed) } }));
    }
    this.#speed.value = String(demo.speed);
    this.#setting.hidden = !demo.canAct;
    if (!restarted) return;
    this.#introduce(demo);
    say(this.#set, `Algorithm ${demo.algorithm}, ${demo.without.length === 0 ? "all repairs on" : `without ${demo.without.join(", ")}`}`);
    this.#algorithm.replaceChildren(...demo.algorithms.map(({ tag, title }) => el("option", { text: `${tag}: ${title}`, attrs: { value: tag } })));
    this.#algorithm.value = demo.algorithm;
    this.#off = new Set(demo.without);
    this.#showRepairs();
  }

  #chooseAlgorithm(): void {
    this.#off.clear();
    this.#showRepairs();
  }

  /** A switch for each repair, with what it is for. */
  #showRepairs(): void {
    const chosen = this.#demo?.algorithms.find(({ tag }) => tag === this.#algorithm.value);
    const switches = (chosen?.repairs ?? []).map(({ name, what }) => {
      const box = el("input", { attrs: { type: "checkbox" } });
      box.checked = !this.#off.has(name);
      box.addEventListener("change", () => (box.checked ? this.#off.delete(name) : this.#off.add(name)));
      return el("label", {}, box, el("span", {}, el("code", { text: name }), ` ${what}`));
    });
    this.#repairs.replaceChildren(...(switches.length > 0 ? switches : [el("p", { class: "quiet", text: "It has none." })]));
  }

  jam(on: boolean): void {
    this.#jam.setAttribute("aria-pressed", String(on));
    this.#jam.classList.toggle("on", on);
    this.#actions.jamming(on);
  }

  /** What can be done to a node now. */
  nodeButtons(state: State, node: number): HTMLElement | null {
    if (!this.canAct) return null;
    const { section, paused } = state.nodes[node];
    const act = (words: string, command: Fields, enabled = true) => {
      const made = button(words, { onclick: () => this.#actions.command(command) });
      made.disabled = !enabled;
      return made;
    };
    const crashed = isDown(state.nodes[node]);
    const id = state.roster.idOf(node);
    const jam = () => {
      const centre = this.#actions.placeOf(node);
      if (centre) this.#actions.command({ jam: { centre: [...centre], radius: JAM_RADIUS } });
    };
    return el("div", { class: "line node-acts", attrs: { "data-for": `node ${id}` } },
      act("Request", { request: { node: id } }, section === "remainder" && !crashed),
      act("Release", { release: id }, section === "critical" && !crashed),
      crashed ? act("Revive", { revive: id }) : act("Crash", { crash: id }),
      paused ? act("Resume", { resume: id }) : act("Pause", { pause: id }, !crashed),
      button("Jam here", { attrs: { title: `No message gets through within ${JAM_RADIUS} m of where it is now` }, onclick: jam }));
  }

  linkButtons([a, b]: readonly number[], isCut: boolean): HTMLElement | null {
    if (!this.canAct) return null;
    const act = isCut ? button("Mend", { onclick: () => this.#actions.command({ mend: [a, b] }) }) : button("Cut", { onclick: () => this.#actions.command({ cut: [a, b] }) });
    const words = isCut ? "Neither hears the other, whatever their distance." : "As if a wall stood between the two.";
    return el("div", { class: "line node-acts", attrs: { "data-for": `link ${a} ${b}` } }, act, el("span", { class: "quiet", text: words }));
  }
}
