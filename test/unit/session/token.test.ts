import { describe, expect, it } from 'vitest';
import type { Credentials } from '../../../src/panel/responses.ts';
import { toToken } from '../../../src/session/token.ts';
import { seededRandom } from '../../../src/simulator/random.ts';
import { busiestMinute } from '../../support/busiest-minute.ts';

const CREDENTIALS: Credentials = {
  token: 'a.b.c',
  socketUrl: 'wss://node.example.com:8080/ws',
  lifetimeMs: 600_000,
};

describe('toToken', () => {
  it.each([
    ['a fleet that started together spreads: the first token may be renewed early', false, 60_000, 540_000],
    ['the next ones are renewed between 75 % and 90 % of their life', true, 450_000, 540_000],
  ] as const)('%s', (_, isRenewal, earliestMs, latestMs) => {
    const renewedAfter = (random: number) =>
      toToken(CREDENTIALS, { isRenewal, now: 1_000, random }).renewAt - 1_000;
    // At the last whole 2 s.
    expect(renewedAfter(0)).toBeCloseTo(earliestMs - 1_000, 3);
    expect(renewedAfter(1)).toBeCloseTo(latestMs - 1_000, 3);
  });

  it('is renewed together with those whose time comes within the same 2 s', () => {
    const instants = Array.from(
      { length: 1_000 },
      (_, index) =>
        toToken(CREDENTIALS, { isRenewal: true, now: index * 1.7, random: index / 1_000 }).renewAt,
    );
    expect(instants.filter((at) => at % 2_000 !== 0)).toEqual([]);
    expect(new Set(instants).size).toBe(46);
  });

  it('is renewed at such times that after its first life no minute has many more calls than the mean', () => {
    const random = seededRandom(1);
    const calls: number[] = [];
    for (let server = 0; server < 1_000; server += 1) {
      for (let now = 0, life = 0; now < 3_600_000; life += 1) {
        now = toToken(CREDENTIALS, { isRenewal: life > 0, now, random: random() }).renewAt;
        if (now > 600_000 && now < 3_600_000) calls.push(now);
      }
    }
    expect(busiestMinute(calls.toSorted((a, b) => a - b))).toBeLessThan(1.5 * (calls.length / 50));
  });

  it('expires its lifetime after its receipt', () => {
    expect(toToken(CREDENTIALS, { isRenewal: false, now: 30_000, random: 0 }).expiresAt).toBe(630_000);
  });
});
