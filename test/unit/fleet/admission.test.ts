import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admission, admit } from '../../../src/fleet/census.ts';
import { listed, uuidOf } from '../../support/listed.ts';
import { target } from '../../support/targets.ts';

const numbers = fc.uniqueArray(fc.nat(40), { maxLength: 40 });
const admission = fc.record({
  shown: numbers,
  observed: numbers.map((all) => new Set(all)),
  most: fc.nat(45),
});
const numberOf = ({ uuid }: { readonly uuid: string }) => Number.parseInt(uuid.slice(0, 8), 16);

/** The numbers of the admitted servers and of those left out. */
function admitted(shown: readonly number[], observed: ReadonlySet<number>, most: number) {
  const isObserved = (uuid: string) => observed.has(numberOf({ uuid }));
  const result = admit(
    shown.map((n) => listed(n)),
    isObserved,
    most,
  );
  return { admitted: result.admitted.map(numberOf), leftOut: result.leftOut.map(numberOf) };
}

describe('admit', () => {
  it('admits or leaves out every server, and exactly fills the available places', () => {
    fc.assert(
      fc.property(admission, ({ shown, observed, most }) => {
        const result = admitted(shown, observed, most);
        expect(result.admitted).toHaveLength(Math.min(most, shown.length));
        expect(new Set([...result.admitted, ...result.leftOut])).toEqual(new Set(shown));
        expect(result.admitted.length + result.leftOut.length).toBe(shown.length);
      }),
    );
  });

  it('never leaves out a monitored server in favor of a new one', () => {
    fc.assert(
      fc.property(admission, ({ shown, observed, most }) => {
        const result = admitted(shown, observed, most);
        const isNewcomer = result.admitted.some((n) => !observed.has(n));
        expect(isNewcomer && result.leftOut.some((n) => observed.has(n))).toBe(false);
      }),
    );
  });

  it('orders servers of equal priority by UUID, whatever the order of the server list', () => {
    fc.assert(
      fc.property(admission, ({ shown, observed, most }) => {
        const result = admitted(shown, observed, most);
        for (const isObserved of [true, false]) {
          const ofKind = (all: readonly number[]) => all.filter((n) => observed.has(n) === isObserved);
          const last = Math.max(-1, ...ofKind(result.admitted));
          expect(ofKind(result.leftOut).every((n) => n > last)).toBe(true);
        }
        const reordered = admitted(shown.toReversed(), observed, most);
        expect(new Set(reordered.admitted)).toEqual(new Set(result.admitted));
      }),
    );
  });
});

describe('an admission over one walk', () => {
  it('has the same result however the server list is divided into pages', () => {
    const pages = fc.array(numbers, { maxLength: 8 });
    fc.assert(
      fc.property(pages, numbers, fc.integer({ min: 1, max: 20 }), (shown, before, most) => {
        const observed = new Set(before);
        const walk = new Admission({
          maxServers: most,
          configured: [],
          isDiscovered: () => true,
          isObserved: (uuid) => observed.has(numberOf({ uuid })),
        });
        let kept: readonly number[] = [];
        for (const page of shown) {
          const found = [...new Set([...kept, ...page])];
          kept = walk.reduce(found.map((n) => listed(n))).map(numberOf);
        }
        const all = [...new Set(shown.flat())];
        const atOnce = admitted(all, observed, most);
        expect(new Set(kept)).toEqual(new Set(atOnce.admitted));
        expect(walk.surplus.servers).toBe(atOnce.leftOut.length);
      }),
    );
  });

  it('counts configured servers, and servers that are not monitored here, separately', () => {
    const walk = new Admission({
      maxServers: 2,
      configured: [1, 2, 3].map((n) => target({ id: uuidOf(n).slice(0, 8) })),
      isDiscovered: ({ uuid }) => numberOf({ uuid }) < 10,
      isObserved: () => false,
    });
    const kept = walk.reduce([12, 11, 10, 6, 5, 4, 3, 2, 1].map((n) => listed(n))).map(numberOf);
    expect(kept).toEqual([3, 2, 1, 4, 5, 10, 11]);
    expect(walk.surplus).toEqual({ servers: 1, firstNames: ['server-6'] });
  });
});
