import { expect, it } from 'vitest';
import { NameLookups } from '../../../src/fleet/name-lookups.ts';

/** Look-ups that end when the test says so. */
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

it('servers that share a name share a look-up that is under way, and no later one', async () => {
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

it('names whose look-up hangs hold up none that was resolved before', async () => {
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

it('a name that could not be resolved is among those that may take long, until it can be', async () => {
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

it("leaves one of Node's four threads to others: three names at once", async () => {
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
