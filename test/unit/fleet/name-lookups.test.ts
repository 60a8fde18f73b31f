import { expect, it } from 'vitest';
import { NameLookups } from '../../../src/fleet/name-lookups.ts';

/** Look-ups that end when the test says so. */
function bench() {
  const asked: string[] = [];
  const pending = new Map<string, (addresses: readonly string[]) => void>();
  const lookups = new NameLookups((name) => {
    asked.push(name);
    return new Promise((resolve) => pending.set(name, resolve));
  });
  return { asked, pending, lookups };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('servers that share a name share a look-up that is under way, and no later one', async () => {
  const { asked, pending, lookups } = bench();
  const both = Promise.all([1, 2].map(() => lookups.resolve('a', false)));
  await turn();
  pending.get('a')?.(['203.0.113.7']);
  expect(await both).toEqual([['203.0.113.7'], ['203.0.113.7']]);
  expect(asked).toEqual(['a']);
  void lookups.resolve('a', false);
  await turn();
  expect(asked).toEqual(['a', 'a']);
});

it('names of servers that did not answer hold up no other', async () => {
  const { asked, lookups } = bench();
  for (const name of ['dead-1', 'dead-2', 'dead-3']) void lookups.resolve(name, true);
  void lookups.resolve('alive', false);
  await turn();
  expect(asked).toEqual(['dead-1', 'alive']);
});

it("leaves Node's threads to others: two names at once, and one of the silent", async () => {
  const { asked, lookups } = bench();
  for (let index = 0; index < 10; index += 1) {
    void lookups.resolve(`a${index}`, false);
    void lookups.resolve(`b${index}`, true);
  }
  await turn();
  expect(asked).toEqual(['a0', 'b0', 'a1']);
});
