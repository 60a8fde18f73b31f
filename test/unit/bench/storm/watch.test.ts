import { expect, it } from 'vitest';
import { calmFrom } from '../../../../bench/storm/watch.ts';

/** Checks once a second. Before each check, the client has used this share of a core. */
function looksAt(usage: readonly number[]) {
  let cpuMs = 0;
  return usage.map((share, second) => {
    cpuMs += share * 1_000;
    return { at: second * 1_000, cpuMs, rssMb: 100, streaming: 0 };
  });
}

const times = (count: number, share: number) => Array.from({ length: count }, () => share);
const CALM = 0.1;

it.each<[string, usage: readonly number[], fromSecond: number | undefined]>([
  ['from the end of the work on', [...times(11, 0.9), ...times(10, CALM)], 10],
  ['not while it waits before it recovers', [...times(15, 0), ...times(10, 0.9), ...times(10, CALM)], 24],
  ['from the start, if there is no work', times(20, CALM), 0],
  ['never, if it works until the end', [...times(20, CALM), ...times(10, 0.9)], undefined],
  ['not in less than five seconds', times(5, CALM), undefined],
])('a client is calm %s', (_what, usage, fromSecond) => {
  expect(calmFrom(looksAt(usage), CALM)?.at).toBe(fromSecond === undefined ? undefined : fromSecond * 1_000);
});
