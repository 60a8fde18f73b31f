import { describe, expect, it } from 'vitest';
import { Account } from '../../../src/panel/account.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/**
 * An account with two panels, and the names of the panels that learned of a change, with the
 * server.
 */
function shared() {
  const account = new Account(new ManualClock(), { pinnedPerMinute: 60 });
  const told: string[] = [];
  const watch = (panel: string) => account.watch((server = 'all') => void told.push(`${panel}: ${server}`));
  return { account, told, watch };
}

describe('an account', () => {
  it('tells each of its panels when its limit changes, until that panel uses another one', () => {
    const { account, told, watch } = shared();
    const stop = watch('one');
    watch('two');
    account.limit.pin({ pinnedPerMinute: 30 });
    stop();
    account.limit.throttled('websocket', 'a', { limitPerMinute: 5 });
    expect(told).toEqual(['one: all', 'two: all', 'two: a']);
  });

  it('tells a panel that stops because of the change no more, and one that comes only of the next', () => {
    const { account, told, watch } = shared();
    const stop = account.watch(() => {
      stop();
      watch('late');
    });
    account.limit.pin({});
    expect(told).toEqual([]);
    account.limit.pin({});
    expect(told).toEqual(['late: all']);
  });

  it('has one count of the calls of others, for all of its panels', () => {
    const { account } = shared();
    expect(account.foreign(0.5)).toBe(account.foreign());
  });
});
