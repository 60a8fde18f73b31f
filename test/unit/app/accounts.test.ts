import { expect, it } from 'vitest';
import { Accounts } from '../../../src/app/accounts.ts';
import { Secret } from '../../../src/domain/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const account = (apiKey: string, url = 'https://panel.example.com') => ({ url, apiKey: new Secret(apiKey) });

it('entries with the same address and key share a limit, others don’t', () => {
  const accounts = new Accounts(new ManualClock());
  const limit = accounts.limitOf(account('one'));
  expect(accounts.limitOf(account('one'))).toBe(limit);
  expect(accounts.limitOf(account('two'))).not.toBe(limit);
  expect(accounts.limitOf(account('one', 'https://other.example.com'))).not.toBe(limit);
});

it('a key that is rotated back within the hour has the calls that it had made', async () => {
  const clock = new ManualClock();
  const accounts = new Accounts(clock);
  const limit = accounts.limitOf(account('one'));
  await clock.advance(3_599_999);
  accounts.keep(new Set());
  expect(accounts.limitOf(account('one'))).toBe(limit);
});

it('a rotated key is forgotten an hour after its last use', async () => {
  const clock = new ManualClock();
  const accounts = new Accounts(clock);
  const old = accounts.limitOf(account('old'));
  const kept = accounts.limitOf(account('kept'));
  await clock.advance(1_000_000);
  accounts.keep(new Set([old, kept]));
  await clock.advance(3_600_000);
  accounts.keep(new Set([kept]));
  expect(accounts.size).toBe(1);
  expect(accounts.limitOf(account('kept'))).toBe(kept);
});
