import { expect, it } from 'vitest';
import { Accounts } from '../../../src/app/accounts.ts';
import { Secret } from '../../../src/text/redaction.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const entry = (apiKey: string, url = 'https://panel.example.com') => ({ url, apiKey: new Secret(apiKey) });

it('entries with the same address and key share an account, others don’t', () => {
  const accounts = new Accounts(new ManualClock());
  const account = accounts.findOrAdd(entry('one'));
  expect(accounts.findOrAdd(entry('one'))).toBe(account);
  expect(accounts.findOrAdd(entry('two'))).not.toBe(account);
  expect(accounts.findOrAdd(entry('one', 'https://other.example.com'))).not.toBe(account);
});

it('a key that is rotated back within the hour has the calls that it had made', async () => {
  const clock = new ManualClock();
  const accounts = new Accounts(clock);
  const account = accounts.findOrAdd(entry('one'));
  await clock.advance(3_599_999);
  accounts.keep(new Set());
  expect(accounts.findOrAdd(entry('one'))).toBe(account);
});

it('a rotated key is forgotten an hour after its last use', async () => {
  const clock = new ManualClock();
  const accounts = new Accounts(clock);
  const old = accounts.findOrAdd(entry('old'));
  const kept = accounts.findOrAdd(entry('kept'));
  await clock.advance(1_000_000);
  accounts.keep(new Set([old, kept]));
  await clock.advance(3_600_000);
  accounts.keep(new Set([kept]));
  expect(accounts.size).toBe(1);
  expect(accounts.findOrAdd(entry('kept'))).toBe(kept);
});
