import { beforeEach, describe, expect, it } from 'vitest';
import { ServerLog } from '../../../src/fleet/server-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let servers: ServerLog;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  servers = new ServerLog('main', log, clock);
});

const loud = () => log.lines.filter(({ level }) => level !== 'debug');
const messages = () => loud().map(({ message }) => message);

/** Lines about so many servers, as sessions write them. */
function change(count: number, level: 'info' | 'warn', condition: string, cause?: string): void {
  for (let n = 1; n <= count; n += 1) {
    const server = `${condition}-${n}`;
    servers[level]({ panel: 'main', server, condition, cause }, `server ${server} is ${condition}`);
  }
}

describe('lines about single servers', () => {
  it('are logged as they come while they are few', async () => {
    change(5, 'info', 'streaming');
    await clock.advance(600_000);
    change(5, 'info', 'polling');
    await clock.advance(600_000);
    expect(loud()).toHaveLength(10);
    expect(loud()[0]).toEqual({
      level: 'info',
      fields: { panel: 'main', server: 'streaming-1', condition: 'streaming', cause: undefined },
      message: 'server streaming-1 is streaming',
    });
  });

  it('become one line with their number and the first names where they are many', async () => {
    change(150, 'info', 'streaming');
    await clock.advance(9_000);
    expect(loud()).toHaveLength(5);
    await clock.advance(1_000);
    expect(messages().slice(5)).toEqual([
      'panel main: 145 more changes of servers: 145 streaming: streaming-6, streaming-7, streaming-8, …',
    ]);
  });

  it('are told by condition and cause, the most severe first, and so is the level', async () => {
    change(20, 'info', 'streaming');
    change(2, 'warn', 'blocked', 'not_found');
    await clock.advance(10_000);
    expect(loud().at(-1)).toEqual({
      level: 'warn',
      fields: { panel: 'main', changes: 17 },
      message:
        'panel main: 17 more changes of servers: 2 blocked (not_found): blocked-1, blocked-2; ' +
        '15 streaming: streaming-6, streaming-7, streaming-8, …',
    });
  });

  it('are seven a minute at most, however many changes there are and of however many kinds', async () => {
    for (let second = 0; second < 600; second += 1) {
      for (let kind = 0; kind < 50; kind += 1) change(2, 'warn', `kind-${kind}`, 'cause');
      await clock.advance(1_000);
    }
    expect(loud().length).toBeLessThanOrEqual(70);
    expect(Math.max(...messages().map((message) => message.length))).toBeLessThan(500);
  });

  it('lose none to the summary: each is still logged at the level debug', async () => {
    change(150, 'warn', 'failing', 'closed');
    await clock.advance(60_000);
    expect(log.lines.filter(({ message }) => message.startsWith('server '))).toHaveLength(150);
  });

  it('that are held back at the end are flushed once', async () => {
    change(7, 'info', 'stopped');
    servers.flush();
    servers.flush();
    await clock.advance(60_000);
    expect(messages().slice(5)).toEqual([
      'panel main: 2 more changes of servers: 2 stopped: stopped-6, stopped-7',
    ]);
  });
});
