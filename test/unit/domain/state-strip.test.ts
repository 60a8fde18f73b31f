import { describe, expect, it } from 'vitest';
import { STRIP_POINTS, StateStrip, type StripState, stripRuns } from '../../../src/domain/state-strip.ts';

const STEP_MS = 120_000;
const START = 1_000 * STEP_MS;

/** A state at an instant in points after the start, and until when it counts; by default for ten seconds. */
type Seen = readonly [state: StripState, at: number, until?: number];

function stripOf(seen: readonly Seen[]): StateStrip {
  const strip = new StateStrip(new Uint8Array(STRIP_POINTS));
  for (const [state, at, until = at + 10_000 / STEP_MS] of seen) {
    strip.see(state, START + at * STEP_MS, START + until * STEP_MS);
  }
  return strip;
}

describe('the strip of a server’s states', () => {
  it.each<readonly [string, readonly Seen[], number, string]>([
    ['is unknown before the first state', [['running', 0.5]], 0.5, 'u59r1'],
    ['is unknown without any state', [], 5, 'u60'],
    [
      'has a point every two minutes',
      [
        ['running', 0],
        ['running', 1],
        ['running', 2],
      ],
      2,
      'u57r3',
    ],
    [
      'keeps the worst state of a point',
      [
        ['running', 0],
        ['down', 0.2],
        ['running', 0.4],
      ],
      0.5,
      'u59d1',
    ],
    [
      'takes off for worse than changing',
      [
        ['off', 0],
        ['changing', 0.2],
        ['running', 0.4],
      ],
      0.5,
      'u59o1',
    ],
    [
      'starts a point with the state that lasts',
      [
        ['off', 0, 1],
        ['running', 1.1],
      ],
      1.2,
      'u58o2',
    ],
    [
      'starts a point anew if that state ended',
      [
        ['off', 0, 0.9],
        ['running', 1.1],
      ],
      1.2,
      'u58o1r1',
    ],
    ['continues while the state counts', [['running', 0, 3]], 3.5, 'u56r4'],
    ['is unknown once it no longer counts', [['running', 0, 3]], 5, 'u54r4u2'],
    [
      'has gaps between states that count',
      [
        ['running', 0],
        ['running', 4],
      ],
      4,
      'u55r1u3r1',
    ],
    [
      'forgets what is older than two hours',
      [
        ['down', 0],
        ['running', 60, 60],
      ],
      60,
      'u59r1',
    ],
    [
      'shows two hours to the last point',
      [
        ['down', 0],
        ['running', 59],
      ],
      59,
      'd1u58r1',
    ],
    [
      'forgets everything after a long gap',
      [
        ['down', 0],
        ['running', 500],
      ],
      500,
      'u59r1',
    ],
    ['is unknown again long after the last state', [['down', 0]], 61, 'u60'],
  ])('%s', (_, seen, at, expected) => {
    expect(stripOf(seen).read(START + at * STEP_MS)).toBe(expected);
  });

  it('marks a point that has passed as down, unless it is too old', () => {
    const strip = stripOf([
      ['running', 0, 70],
      ['running', 70, 70],
    ]);
    for (const at of [5, 68, 69.9]) strip.wentDown(START + at * STEP_MS);
    expect(strip.read(START + 70 * STEP_MS)).toBe('r57d2r1');
  });

  it('is read back as runs', () => {
    expect(stripRuns('u57r1d2')).toEqual([
      { state: 'unknown', points: 57 },
      { state: 'running', points: 1 },
      { state: 'down', points: 2 },
    ]);
    expect(stripRuns('')).toEqual([]);
  });
});
