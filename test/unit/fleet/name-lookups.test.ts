import { expect, it } from 'vitest';
import { NameLookups } from '../../../src/fleet/name-lookups.ts';

/** Lookups that end when the test lets them. */
function bench() {
  const asked: string[] = [];
  const pending = new Map<string, { found: () => void; failed: () => void }>();
  const lookups = new NameLookups((name) => {
    asked.push(name);
    return new Promise((resolve, reject) =>
      pending.set(name, {
        found: () => resolve(['203.0.113.7']),
        failed: () => reject(new Error('ENOTFOUND')),
      }),
    );
  });
  return { asked, pending, lookups };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('servers with the same name share a lookup in progress, but not a later one', async () => {
  const { asked, pending, lookups } = bench();
  const both = Promise.all([lookups.resolve('a'), lookups.resolve('a')]);
  await turn();
  pending.get('a')?.found();
  expect(await both).toEqual([['203.0.113.7'], ['203.0.113.7']]);
  expect(asked).toEqual(['a']);
  void lookups.resolve('a');
  await turn();
  expect(asked).toEqual(['a', 'a']);
});

it('hanging lookups do not delay names that were resolved before', async () => {
  const { asked, pending, lookups } = bench();
  const alive = lookups.resolve('alive');
  await turn();
  pending.get('alive')?.found();
  await alive;
  for (const name of ['dead-1', 'dead-2', 'dead-3']) void lookups.resolve(name);
  void lookups.resolve('alive');
  await turn();
  expect(asked).toEqual(['alive', 'dead-1', 'dead-2', 'alive']);
});

it('a name that failed to resolve is treated as slow until it resolves', async () => {
  const { asked, pending, lookups } = bench();
  for (const end of ['found', 'failed'] as const) {
    const lookup = lookups.resolve('a');
    await turn();
    pending.get('a')?.[end]();
    await Promise.allSettled([lookup]);
  }
  for (const name of ['dead-1', 'dead-2', 'a']) void lookups.resolve(name);
  await turn();
  expect(asked).toEqual(['a', 'a', 'dead-1', 'dead-2']);
});

it("at most three lookups run at once, which leaves one of Node.js's four threads free", async () => {
  const { asked, pending, lookups } = bench();
  const names = Array.from({ length: 10 }, (_, index) => `a${index}`);
  for (const name of names) {
    const lookup = lookups.resolve(name);
    await turn();
    pending.get(name)?.found();
    await lookup;
  }
  asked.length = 0;
  for (const name of names) {
    void lookups.resolve(name);
    void lookups.resolve(`new-${name}`);
  }
  await turn();
  expect(asked).toHaveLength(3);
});
