// Elements in short. Text is always set as text: nothing of a trace is ever taken for markup.

type Child = Node | string | null | undefined | false;

export interface Traits {
  readonly class?: string;
  readonly id?: string;
  readonly text?: string;
  readonly label?: string;
  readonly attrs?: Readonly<Record<string, string>>;
  readonly onclick?: () => void;
}

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, traits: Traits = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (traits.class) element.className = traits.class;
  if (traits.id) element.id = traits.id;
  if (traits.text !== undefined) element.textContent = traits.text;
  if (traits.label) element.setAttribute("aria-label", traits.label);
  for (const [name, value] of Object.entries(traits.attrs ?? {})) element.setAttribute(name, value);
  if (traits.onclick) element.addEventListener("click", traits.onclick);
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** A button that is no part of a form. */
export function button(text: string, traits: Traits = {}): HTMLButtonElement {
  return el("button", { ...traits, text, attrs: { type: "button", ...traits.attrs } });
}

export function svg(tag: string, attrs: Readonly<Record<string, string | number>> = {}, text?: string): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attrs)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * Puts these in place of what is there, but leaves alone what is the same: a button that is being pressed, or has the
 * focus, is not taken away under the finger. Two that look the same have to mean the same; `data-for` tells them apart
 * where they do not.
 */
export function renew(parent: Element, ...children: readonly Node[]): void {
  const before = [...parent.childNodes];
  children.forEach((child, at) => {
    const old = before[at];
    if (!old) parent.append(child);
    else if (old.isEqualNode(child)) return;
    else if (old instanceof Element && child instanceof Element && !(old instanceof HTMLButtonElement) && old.cloneNode().isEqualNode(child.cloneNode())) renew(old, ...child.childNodes);
    else old.replaceWith(child);
  });
  for (const old of before.slice(children.length)) old.remove();
}

/** Sets the text only if it is another one: screen readers and layout notice every change. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
