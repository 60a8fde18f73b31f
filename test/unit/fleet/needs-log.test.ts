import { beforeEach, expect, it } from 'vitest';
import { NeedsLog, type NeedsReport } from '../../../src/fleet/needs-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const TOO_SMALL = { cause: 'budget_too_small', detail: '3 servers need 6 calls' } as const;

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let report: NeedsReport;
let needsLog: NeedsLog;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  report = {
    servers: 3,
    needs: { sockets: 3, polls: 0, callsPerMinute: 0.375 },
    perMinute: 48,
    limit: undefined,
    problems: [],
  };
  needsLog = new NeedsLog('main', log, clock, () => report);
});

const change = (changes: Partial<NeedsReport>) => {
  report = { ...report, ...changes };
  needsLog.follow();
};
const lines = () => log.lines.map(({ level, message }) => `${level} ${message}`);

it('waits ten seconds for the limit, and says nothing of it if the panel reports none', async () => {
  needsLog.follow();
  await clock.advance(9_999);
  expect(needsLog.isLogged).toBe(false);
  await clock.advance(1);
  expect(needsLog.isLogged).toBe(true);
  expect(lines()).toEqual([
    'info panel main: 3 servers, each with its own console socket; using up to 48 calls per minute',
  ]);
  expect(log.lines[0]?.fields).toEqual({
    panel: 'main',
    sockets: 3,
    polls: 0,
    callsPerMinute: 0.4,
    budgetPerMinute: 48,
  });
});

it('is one line as soon as the limit is known, which is not repeated', async () => {
  needsLog.follow();
  change({ limit: 240, perMinute: 192 });
  change({});
  await clock.advance(60_000);
  expect(lines()).toEqual([
    'info panel main: 3 servers, each with its own console socket; using up to 192 of 240 calls per minute',
  ]);
});

it('says nothing before the first server is discovered', async () => {
  change({ servers: 0, limit: 240 });
  await clock.advance(60_000);
  expect(lines()).toEqual([]);
});

it('warns about what is missing instead, once, and says when it is no longer missing', () => {
  change({ limit: 'none', problems: [TOO_SMALL] });
  change({ needs: { ...report.needs, callsPerMinute: 0.376 } });
  change({ problems: [] });
  expect(lines()).toEqual([
    expect.stringMatching(/^warn panel main: API budget too small: 3 servers need 6 calls\. /),
    'info panel main: 3 servers, each with its own console socket; using up to 48 calls per minute',
  ]);
});

it.each([
  [1, 1, 0, '1 server, with its own console socket'],
  [1, 0, 1, '1 server, 0 with a console socket, 1 polled'],
  [5, 2, 1, '5 servers, 2 with a console socket, 1 polled'],
])('describes %i servers with %i sockets and %i polled', (servers, sockets, polls, text) => {
  change({ servers, needs: { sockets, polls, callsPerMinute: 1 }, limit: 'none' });
  expect(lines()).toEqual([`info panel main: ${text}; using up to 48 calls per minute`]);
});

it('leaves no timer behind', () => {
  needsLog.follow();
  needsLog.stop();
  expect(clock.pending).toBe(0);
});
