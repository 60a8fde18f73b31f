import { beforeEach, describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { CONSOLE_TRIAL_INTERVAL_MS, ConsoleRefusals } from '../../../src/panel/console-refusals.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let refusals: ConsoleRefusals;

beforeEach(() => {
  clock = new ManualClock();
  refusals = new ConsoleRefusals(clock);
});

const ended = (servers: readonly string[], cause: CauseCode) => {
  for (const server of servers) refusals.ended(server, { cause, detail: cause });
};
const cause = () => refusals.problem?.cause;

describe('rejected consoles', () => {
  it('are attributed to the account once the console of every server is rejected', () => {
    refusals.setServers(['a', 'b']);
    ended(['a'], 'no_console_permission');
    expect(cause()).toBeUndefined();
    ended(['b'], 'unauthorized');
    expect(cause()).toBe('key_console_permission');
  });

  it('are attributed to nothing before the servers are known, and not to the account for a single server', () => {
    ended(['a', 'b'], 'no_console_permission');
    expect(cause()).toBeUndefined();
    refusals.setServers(['a']);
    expect(cause()).toBeUndefined();
    refusals.setServers(['a', 'b']);
    ended(['b'], 'no_console_permission');
    expect(cause()).toBe('key_console_permission');
  });

  it('are attributed to the account if the other servers are suspended or unknown', () => {
    refusals.setServers(['a', 'b', 'c', 'd']);
    ended(['c'], 'suspended');
    ended(['d'], 'not_found');
    ended(['a', 'b'], 'no_console_permission');
    expect(cause()).toBe('key_console_permission');
  });

  it.each<[CauseCode]>([['console_limit'], ['connection'], ['rate_limited'], ['panel_error']])(
    'are not attributed while a server fails with %s',
    (other) => {
      refusals.setServers(['a', 'b', 'c']);
      ended(['a', 'b'], 'no_console_permission');
      ended(['c'], other);
      expect(cause()).toBeUndefined();
    },
  );

  it('end with the first accepted console', () => {
    refusals.setServers(['a', 'b']);
    ended(['a', 'b'], 'no_console_permission');
    refusals.ended('a', undefined);
    expect(cause()).toBeUndefined();
    expect(refusals.refuse('b')).toBeUndefined();
  });

  it('are attributed to the account when the only server with an accepted console is removed', () => {
    refusals.setServers(['a', 'b', 'c']);
    refusals.ended('c', undefined);
    ended(['a', 'b'], 'no_console_permission');
    expect(cause()).toBeUndefined();
    refusals.setServers(['a', 'b']);
    expect(cause()).toBe('key_console_permission');
  });

  it('are forgotten with their servers, and not counted for a removed server', () => {
    refusals.setServers(['a', 'b']);
    ended(['a', 'b'], 'no_console_permission');
    refusals.setServers(['b', 'c']);
    expect(cause()).toBeUndefined();
    ended(['a'], 'no_console_permission');
    expect(cause()).toBeUndefined();
  });

  it('let one server try every five minutes, and new servers immediately', async () => {
    refusals.setServers(['a', 'b', 'c']);
    ended(['a', 'b', 'c'], 'no_console_permission');
    expect(refusals.refuse('a')?.problem.cause).toBe('key_console_permission');
    await clock.advance(CONSOLE_TRIAL_INTERVAL_MS - 1);
    expect(refusals.refuse('b')).toBeDefined();
    await clock.advance(1);
    expect(refusals.refuse('b')).toBeUndefined();
    expect(refusals.refuse('c')).toBeDefined();
    refusals.setServers(['a', 'b', 'c', 'd']);
    expect(refusals.refuse('d')).toBeUndefined();
    expect(refusals.refuse('c')).toBeDefined();
  });
});
