import { span } from '../data/words.ts';

/** An element with a class and children; text is never parsed as markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = '',
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** Sets a text if it differs from the current one, so that the browser lays out only what changed. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** Sets an attribute if it differs; undefined removes it. */
export function setAttribute(node: Element, name: string, value: string | undefined): void {
  if (value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

const SVG = 'http://www.w3.org/2000/svg';

/** An SVG element. */
export function drawing<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/** Shows a text that depends on an instant in Unix seconds; hovering shows the instant itself, in the viewer's time zone. */
export function setTime(node: HTMLTimeElement, unixSeconds: number | undefined, text: string): void {
  setText(node, text);
  const at = unixSeconds === undefined ? undefined : new Date(unixSeconds * 1_000);
  setAttribute(node, 'datetime', at?.toISOString());
  setAttribute(node, 'title', at && full.format(at));
}

/** How long ago an instant was. */
export function ago(unixSeconds: number, now: number): string {
  return `${span(now - unixSeconds)} ago`;
}

/** The time of day of an instant, with the date if it isn't today. */
export function timeOfDay(unixSeconds: number, now: number): string {
  const [at, today] = [new Date(unixSeconds * 1_000), new Date(now * 1_000)];
  return (at.toDateString() === today.toDateString() ? clock : dayAndClock).format(at);
}
