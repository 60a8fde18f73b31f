// Small parts that the page shows in several places.
import type { ComponentChild, JSX } from 'preact';
import { STRIP_POINTS, STRIP_STATES, type StripState } from '../../domain/reading.ts';
import { span } from '../data/amounts.ts';
import type { Complaint } from '../data/complaint.ts';
import { readStrip } from '../data/strip-text.ts';
import { sentence } from '../data/titles.ts';

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const minutes = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayAndMinutes = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });
const dayAndClock = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/**
 * A text about an instant in Unix seconds; hovering shows the instant, in the viewer's time zone.
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

/** A text in which the names of settings are between backticks. */
export function withCode(text: string): ComponentChild {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}

/** The complaint about a panel or node: the problem, since when, what to do, and what happened. */
export function banner(complaint: Complaint, now: number): JSX.Element {
  const { severity, title, since } = complaint;
  return (
    <div key={title} class="notice" data-severity={severity}>
      <p class="title">
        <bdi>{sentence(title)}</bdi>
        {since !== undefined && time(since, `since ${minuteOfDay(since, now)}, ${span(now - since)}`)}
      </p>
      {remarks(complaint)}
    </div>
  );
}

/**
 * What to do about a complaint whose title is shown above, and what happened; null if neither is
 * known.
 */
export function advice(complaint: Complaint): JSX.Element | null {
  const { severity, action, detail } = complaint;
  if (action === '' && detail === '') return null;
  return (
    <div class="notice" data-severity={severity}>
      {remarks(complaint)}
    </div>
  );
}

function remarks({ action, detail }: Complaint): ComponentChild {
  return (
    <>
      {action !== '' && <p>{withCode(action)}</p>}
      {detail !== '' && (
        <p class="sub observed">
          <bdi>{withCode(detail)}</bdi>
        </p>
      )}
    </>
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

const TITLES: Readonly<Record<StripState, string>> = {
  unknown: 'no data',
  running: 'running',
  changing: 'starting or stopping',
  off: 'off',
  down: 'down',
};

const POINT_SECONDS = 120;

/**
 * A server's states in the last two hours, in the form of `stripText`; if it is empty, nothing is
 * known. Points have the color of the worst state in two minutes; hovering shows for how long the
 * server was in each state.
 */
export function strip(text: string): JSX.Element {
  const [runs = [], seconds = []] = readStrip(text === '' ? `u${STRIP_POINTS}` : text);
  const shapes = new Map<StripState, string>();
  let [at, unknown] = [0, 0];
  for (const { state, amount } of runs) {
    shapes.set(state, `${shapes.get(state) ?? ''}M${at} 0h${amount}v1h-${amount}z`);
    at += amount;
    if (state === 'unknown') unknown += amount * POINT_SECONDS;
  }
  const times = [...seconds.toReversed(), { state: 'unknown', amount: unknown } as const];
  const shown = times.filter(({ amount }) => amount > 0);
  const title = shown.map(({ state, amount }) => `${TITLES[state]} ${span(amount)}`).join(', ');
  return (
    <svg class="strip" viewBox={`0 0 ${STRIP_POINTS} 1`} preserveAspectRatio="none" role="img">
      <title>{`Last two hours: ${title}`}</title>
      {STRIP_STATES.map((state) => (
        <path key={state} class={state} d={shapes.get(state) ?? ''} />
      ))}
    </svg>
  );
}
