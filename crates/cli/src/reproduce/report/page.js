"use strict";

// What the pointer, a finger or the arrow keys are at, and buttons that copy commands. Without this script every point
// still says what it is by its title.

const SVG = document.documentElement.querySelector("svg.plot")?.namespaceURI;
const REACH = 28;

function element(name, className, content) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = content ?? "";
  return made;
}

const tip = element("div", "tip");
tip.setAttribute("role", "status");
tip.hidden = true;
document.body.append(tip);
let shown = null;

function read(circle) {
  const title = circle.querySelector("title");
  const [series, x, value, interval = "no interval wider than 0"] = title.textContent.split("\n");
  title.remove();
  const place = (name) => Number(circle.getAttribute(name));
  return { series, x, value, interval, colour: circle.getAttribute("color"), cx: place("cx"), cy: place("cy") };
}

function row(point, current) {
  const line = element("div", current ? "tip-row current" : "tip-row");
  const dot = document.createElementNS(SVG, "svg");
  dot.setAttribute("viewBox", "0 0 10 10");
  const disc = document.createElementNS(SVG, "circle");
  for (const [name, value] of [["cx", 5], ["cy", 5], ["r", 4], ["fill", point.colour]]) disc.setAttribute(name, value);
  dot.append(disc);
  line.append(dot, element("span", "tip-series", point.series), element("span", "tip-value", point.value));
  return line;
}

function hide() {
  if (shown) shown.ring.setAttribute("visibility", "hidden");
  shown = null;
  tip.hidden = true;
}

function show(plot, point) {
  if (shown?.plot !== plot || plot.at !== point) tell(plot, point);
  place(spot(plot));
}

function tell(plot, point) {
  hide();
  shown = { plot, ring: plot.ring };
  plot.at = point;
  plot.ring.setAttribute("cx", point.cx);
  plot.ring.setAttribute("cy", point.cy);
  plot.ring.setAttribute("visibility", "visible");
  const beside = plot.points.filter((other) => other.cx === point.cx).sort((a, b) => a.cy - b.cy);
  const rows = beside.map((other) => row(other, other === point));
  tip.replaceChildren(element("div", "tip-x", point.x), ...rows, element("div", "tip-interval", point.interval));
  tip.hidden = false;
}

// Where on the screen the point is that a plot is at.
function spot({ svg, at }) {
  return new DOMPoint(at.cx, at.cy).matrixTransform(svg.getScreenCTM());
}

// A tip that the keys called goes along with its point; the pointer is at another place of the page after a scroll. But
// browsers tell of a scroll with the next frame: a tip that was called in between stands where it should, and stays.
function follow() {
  if (!shown) return;
  const at = spot(shown.plot);
  if (at.x === shown.at.x && at.y === shown.at.y) return;
  if (document.activeElement === shown.plot.svg) place(at);
  else hide();
}

// Beside this place on the screen, on the side where there is room.
function place(at) {
  shown.at = at;
  const { width, height } = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const right = at.x + 16 + width < room;
  const left = right ? at.x + 16 : Math.max(8, at.x - 16 - width);
  const below = left < at.x && left + width > at.x;
  const top = below ? at.y + 18 : at.y - height / 2;
  tip.style.left = `${Math.min(left, room - width - 8)}px`;
  tip.style.top = `${Math.max(8, Math.min(top, innerHeight - height - 8))}px`;
}

function nearest(plot, event) {
  const scale = plot.svg.getScreenCTM();
  const distance = (point) => Math.hypot(point.cx * scale.a + scale.e - event.clientX, point.cy * scale.d + scale.f - event.clientY);
  let best = null;
  for (const point of plot.points) if (!best || distance(point) < distance(best)) best = point;
  return best && distance(best) <= REACH ? best : null;
}

// Left and right along the series, up and down between the series at the same x.
function step(plot, key) {
  const { points, at } = plot;
  const series = points.filter((point) => point.series === at.series).sort((a, b) => a.cx - b.cx);
  const column = points.filter((point) => point.cx === at.cx).sort((a, b) => a.cy - b.cy);
  switch (key) {
    case "ArrowLeft": return series[series.indexOf(at) - 1] ?? at;
    case "ArrowRight": return series[series.indexOf(at) + 1] ?? at;
    case "ArrowUp": return column[column.indexOf(at) - 1] ?? at;
    case "ArrowDown": return column[column.indexOf(at) + 1] ?? at;
    case "Home": return series[0];
    case "End": return series.at(-1);
    default: return null;
  }
}

function wake(svg) {
  const points = [...svg.querySelectorAll(".point")].map(read);
  if (points.length === 0) return;
  const ring = document.createElementNS(SVG, "circle");
  for (const [name, value] of [["class", "ring"], ["r", 70], ["visibility", "hidden"]]) ring.setAttribute(name, value);
  svg.append(ring);
  const plot = { svg, points, ring, at: points[0] };
  svg.tabIndex = 0;
  svg.setAttribute("aria-label", `${svg.getAttribute("aria-label")}; the arrow keys go from point to point`);
  const point = (event) => {
    const found = nearest(plot, event);
    if (found) show(plot, found);
    else hide();
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
  svg.addEventListener("focus", () => svg.matches(":focus-visible") && show(plot, plot.at));
  // After a press on another figure, which has its tip already.
  svg.addEventListener("blur", () => shown?.plot === plot && hide());
  svg.addEventListener("keydown", (event) => {
    const next = step(plot, event.key);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    show(plot, next);
  });
}

async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return document.execCommand("copy");
  }
}

function addCopy(command) {
  const button = element("button", "copy", "copy");
  button.type = "button";
  button.setAttribute("aria-label", "copy the command");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(command.querySelector("code"))) ? "copied" : "selected";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  command.append(button);
}

document.querySelectorAll("svg.plot").forEach(wake);
document.querySelectorAll(".command").forEach(addCopy);
addEventListener("scroll", follow, { passive: true, capture: true });
addEventListener("beforeprint", hide);
addEventListener("keydown", (event) => event.key === "Escape" && hide());
