import type { ComponentChild, JSX } from 'preact';
import type { Complaint } from '../data/complaint.ts';
import { sentence, span } from '../data/words.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/** A text that depends on an instant in Unix seconds; hovering shows the instant itself, in the viewer's time zone. */
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

/** The time of day of an instant. */
export function clockTime(unixSeconds: number): string {
  return clock.format(unixSeconds * 1_000);
}

/** The time of day of an instant, with the date if it isn't today. */
export function timeOfDay(unixSeconds: number, now: number): string {
  const [at, today] = [new Date(unixSeconds * 1_000), new Date(now * 1_000)];
  return (at.toDateString() === today.toDateString() ? clock : dayAndClock).format(at);
}

/** A text in which the names of settings are between backticks. */
export function withCode(text: string): ComponentChild {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}

/** A complaint with everything that is known: the problem, what to do, and what happened. */
export function notice({ severity, title, action, detail }: Complaint): JSX.Element {
  return (
    <div key={title} class="notice" data-severity={severity}>
      <p class="title">
        <bdi>{sentence(title)}</bdi>
      </p>
      {action !== '' && <p>{withCode(action)}</p>}
      {detail !== '' && (
        <p class="sub observed">
          <bdi>{withCode(detail)}</bdi>
        </p>
      )}
    </div>
  );
}

/** A bar that is filled to this percentage. */
export function bar(percent: number, level: 'error' | 'warning' | undefined): JSX.Element {
  return (
    <span class="bar" aria-hidden="true">
      <span class="fill" data-level={level} style={{ width: `${Math.min(100, percent).toFixed(0)}%` }} />
    </span>
  );
}
