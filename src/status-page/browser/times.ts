import { span } from '../data/words.ts';
import { setAttribute, setText } from './dom.ts';

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
