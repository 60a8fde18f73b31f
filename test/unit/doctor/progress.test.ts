import { describe, expect, it } from 'vitest';
import { painter } from '../../../src/doctor/paint.ts';
import { LiveProgress, remainingMs, serverLine, statusLine } from '../../../src/doctor/progress.ts';
import { passed } from '../../../src/doctor/report.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { serverReport } from './reports.ts';

const paint = painter(false);

/** Progress on a screen with this number of columns, or on a pipe. */
function liveOn(columns: number | undefined) {
  const written: string[] = [];
  const clock = new ManualClock();
  const screen = { columns, write: (text: string) => void written.push(text) };
  return { written, clock, live: new LiveProgress({ screen, clock, paint }) };
}

function play({ live }: ReturnType<typeof liveOn>): void {
  live.panelStep('main', passed('reach', 'it works'));
  live.planned('main', 40, 25_000);
  live.began('main', 'survival', 'upgrade');
  live.serverDone('main', serverReport('survival'));
  live.serverDone('main', serverReport('creative', 'auth', 'closed'));
  live.note('main', 'it is slow');
  live.end();
}

describe('progress on a pipe', () => {
  it('has one line per panel step and server, without escapes', () => {
    const on = liveOn(undefined);
    play(on);
    expect(on.written.join('')).toBe(`\
panel main: reach ok: it works
panel main: testing 40 servers, about 25 s
main: survival: ok (found, credentials, upgrade, auth, stats, resources)
main: creative: auth failed: creative has trouble
panel main: it is slow
`);
  });
});

describe('progress in a terminal', () => {
  it('has a redrawn status line, and permanent lines only for failures and panel steps', () => {
    const on = liveOn(80);
    play(on);
    const lines = on.written
      .join('')
      .split('\n')
      .map((line) => line.split('\r\u001b[K').at(-1));
    expect(lines).toEqual([
      'panel main: reach ok: it works',
      'panel main: testing 40 servers, about 25 s',
      'main: creative: auth failed: creative has trouble',
      'panel main: it is slow',
      '',
    ]);
    expect(on.written.join('')).toContain('1 of 40 servers, about 25 s left · main: survival: upgrade');
    expect(on.written.at(-1)).toBe('\r\u001b[K');
  });
});

describe('the remaining time', () => {
  it.each([
    [{ total: 100, done: 0, plannedMs: 60_000, elapsedMs: 0 }, 60_000],
    [{ total: 100, done: 5, plannedMs: 60_000, elapsedMs: 90_000 }, 0],
    [{ total: 100, done: 50, plannedMs: 60_000, elapsedMs: 90_000 }, 90_000],
    [{ total: 100, done: 100, plannedMs: 60_000, elapsedMs: 90_000 }, 0],
  ])('for %j is %i ms', (pace, leftMs) => {
    expect(remainingMs(pace)).toBe(leftMs);
  });

  it('fits the screen', () => {
    const pace = { total: 10, done: 0, plannedMs: 1, elapsedMs: 0 };
    for (const columns of [1, 10, 40]) {
      expect(statusLine([pace], 'x'.repeat(200), columns).length).toBeLessThanOrEqual(
        Math.max(1, columns - 1),
      );
    }
  });
});

describe('a server that was not tried', () => {
  it('is reported as not tried', () => {
    expect(serverLine('main', serverReport('survival', 'found'), paint)).toBe('main: survival: not tested');
  });
});
