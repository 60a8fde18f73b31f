// A server's strip: its states in the last two hours, in the colors `--strip-*` of theme.css.
import type { JSX } from 'preact';
import { STRIP_POINTS, STRIP_STATES, type StripState } from '../../domain/strip.ts';
import { span } from '../data/amounts.ts';
import { readStrip } from '../data/strip-text.ts';

const TITLES: Readonly<Record<StripState, string>> = {
  unknown: 'no data',
  running: 'running',
  changing: 'starting or stopping',
  off: 'off',
  down: 'down',
};

const POINT_SECONDS = 120;

/**
 * A server's states in the last two hours, from the text of `stripText`. If it is empty, nothing is
 * known. Points have the color of the worst state in two minutes, and the tooltip contains the time
 * in each state.
 */
export function stripCell(text: string): JSX.Element {
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
