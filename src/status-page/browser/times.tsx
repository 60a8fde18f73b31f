// Instants as texts, in the viewer's language and time zone.
import type { JSX } from 'preact';
import { span } from '../data/amounts.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayAndMinutes = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/**
 * A text about an instant in Unix seconds. The tooltip contains the instant in the viewer's time
 * zone.
 */
export function time(unixSeconds: number, text: string, className = 'sub'): JSX.Element {
  const date = new Date(unixSeconds * 1_000);
  return (
    <time class={className} dateTime={date.toISOString()} title={full.format(date)}>
      {text}
    </time>
  );
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

/** The hour and minute of an instant, with the date if it isn't today. */
export function minuteOfDay(unixSeconds: number, now: number): string {
  const [at, today] = [new Date(unixSeconds * 1_000), new Date(now * 1_000)];
  return (at.toDateString() === today.toDateString() ? minutes : dayAndMinutes).format(at);
}
