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

describe('the refusals of consoles', () => {
  it("are the account's once every server met one", () => {
    refusals.setServers(['a', 'b']);
    ended(['a'], 'no_console_permission');
    expect(cause()).toBeUndefined();
    ended(['b'], 'unauthorized');
    expect(cause()).toBe('key_console_permission');
  });

  it("are nobody's before the servers were counted, and not the account's for one server alone", () => {
    ended(['a', 'b'], 'no_console_permission');
    expect(cause()).toBeUndefined();
    refusals.setServers(['a']);
    expect(cause()).toBeUndefined();
    refusals.setServers(['a', 'b']);
    ended(['b'], 'no_console_permission');
    expect(cause()).toBe('key_console_permission');
  });

  it("are the account's where the other servers are held or unknown", () => {
    refusals.setServers(['a', 'b', 'c', 'd']);
    ended(['c'], 'suspended');
    ended(['d'], 'not_found');
    ended(['a', 'b'], 'no_console_permission');
    expect(cause()).toBe('key_console_permission');
  });

  it.each<[CauseCode]>([['console_limit'], ['connection'], ['rate_limited'], ['panel_error']])(
    'are not known of a server that met %s',
    (other) => {
      refusals.setServers(['a', 'b', 'c']);
      ended(['a', 'b'], 'no_console_permission');
      ended(['c'], other);
      expect(cause()).toBeUndefined();
    },
  );

  it('end with the first console that is granted', () => {
    refusals.setServers(['a', 'b']);
    ended(['a', 'b'], 'no_console_permission');
    refusals.ended('a', undefined);
    expect(cause()).toBeUndefined();
    expect(refusals.refuse('b')).toBeUndefined();
  });

  it("become the account's when the one server leaves that was granted its console", () => {
    refusals.setServers(['a', 'b', 'c']);
    refusals.ended('c', undefined);
    ended(['a', 'b'], 'no_console_permission');
    expect(cause()).toBeUndefined();
    refusals.setServers(['a', 'b']);
    expect(cause()).toBe('key_console_permission');
  });

  it('are forgotten with their servers, and not counted for a server that has left', () => {
    refusals.setServers(['a', 'b']);
    ended(['a', 'b'], 'no_console_permission');
    refusals.setServers(['b', 'c']);
    expect(cause()).toBeUndefined();
    ended(['a'], 'no_console_permission');
    expect(cause()).toBeUndefined();
  });

  it('let one server try every five minutes, and those that were not refused at once', async () => {
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
