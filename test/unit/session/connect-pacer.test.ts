import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ConnectPacer,
  type InTurn,
  NODE_LOOP,
  SCRAPED_TURN_MS,
  TURN_MS,
} from '../../../src/session/connect-pacer.ts';

/** An event loop in which time advances only through work, all of it in reactions of promises. */
class FakeLoop {
  now = 0;
  isScraped = false;
  readonly #next: (() => void)[] = [];
  readonly #reactions: (() => void)[] = [];
  readonly pacer = new ConnectPacer({
    now: () => this.now,
    nextTurn: (run) => void this.#next.push(run),
    afterPromises: (run) => void this.#reactions.push(run),
    isRendering: () => this.isScraped,
  });

  get isIdle(): boolean {
    return this.#next.length === 0;
  }

  /** Adds work that reactions of promises do after the current function. */
  work(tookMs: number): void {
    this.#reactions.push(() => {
      this.now += tookMs;
    });
  }

  /** Runs one turn. Work that is added during it runs in the next turn. */
  turn(): void {
    for (const run of this.#next.splice(0)) run();
    for (let run = this.#reactions.shift(); run !== undefined; run = this.#reactions.shift()) run();
  }
}

/** Connection attempts that record their names when they start, and take this long. */
function storm(loop: FakeLoop, inTurn: InTurn, names: readonly string[], begun: string[], tookMs = 1) {
  return names.map((name) =>
    inTurn(() => {
      loop.work(tookMs);
      begun.push(name);
    }),
  );
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);

describe('connects', () => {
  it('begin in the next turn, and in each as many as take 3 ms, in their order', () => {
    const loop = new FakeLoop();
    const begun: string[] = [];
    const names = named('a', 8);
    storm(loop, loop.pacer.line(), names, begun);
    expect(begun).toEqual([]);
    const counts = [1, 2, 3].map(() => {
      loop.turn();
      return begun.length;
    });
    expect(counts).toEqual([TURN_MS, 2 * TURN_MS, 8]);
    expect(begun).toEqual(names);
    expect(loop.isIdle).toBe(true);
  });

  it('that take longer than a turn begin one by one', () => {
    const loop = new FakeLoop();
    const begun: string[] = [];
    storm(loop, loop.pacer.line(), named('a', 2), begun, 50);
    loop.turn();
    expect(begun).toEqual(['a0']);
    loop.turn();
    expect(begun).toEqual(['a0', 'a1']);
  });

  it('take a twelfth of that beside a scrape', () => {
    const loop = new FakeLoop();
    const begun: string[] = [];
    storm(loop, loop.pacer.line(), named('a', 60), begun, 0.125);
    loop.isScraped = true;
    loop.turn();
    expect(begun).toHaveLength(SCRAPED_TURN_MS / 0.125);
    loop.isScraped = false;
    loop.turn();
    expect(begun).toHaveLength((SCRAPED_TURN_MS + TURN_MS) / 0.125);
  });

  it('that are canceled never begin, and leave their turn to others', () => {
    const loop = new FakeLoop();
    const begun: string[] = [];
    const [one, other] = [loop.pacer.line(), loop.pacer.line()];
    for (const cancel of storm(loop, one, named('a', 1_000), begun)) cancel();
    storm(loop, other, ['b'], begun);
    loop.isScraped = true;
    loop.turn();
    expect(begun).toEqual(['b']);
    expect(loop.isIdle).toBe(true);
  });

  it('begin although another one throws', () => {
    const loop = new FakeLoop();
    const begun: string[] = [];
    const line = loop.pacer.line();
    line(() => {
      throw new Error('a bug');
    });
    storm(loop, line, ['a'], begun);
    expect(() => loop.turn()).toThrow('a bug');
    loop.turn();
    expect(begun).toEqual(['a']);
  });
});

it("a panel's connects begin in the next turn beside another panel's storm", () => {
  const loop = new FakeLoop();
  const begun: string[] = [];
  storm(loop, loop.pacer.line(), named('a', 10_000), begun, 0.25);
  loop.turn();
  storm(loop, loop.pacer.line(), named('b', 3), begun, 0.25);
  loop.turn();
  expect(begun.filter((name) => name.startsWith('b'))).toEqual(['b0', 'b1', 'b2']);
  expect(begun).toHaveLength((2 * TURN_MS) / 0.25);
});

const step = fc.oneof(
  fc.record({
    does: fc.constant('connect' as const),
    panel: fc.nat(2),
    count: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({ does: fc.constant('cancel' as const), which: fc.nat() }),
  fc.record({ does: fc.constant('turn' as const), isScraped: fc.boolean() }),
);

it('whatever happens: each connect that is not canceled begins once, in the order of its panel, no turn has too many, and panels take turns', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 24 }), (steps, quarters) => {
      const tookMs = quarters / 4;
      const loop = new FakeLoop();
      const lines = [0, 1, 2].map(() => loop.pacer.line());
      const begun: string[] = [];
      const cancels = new Map<string, () => void>();
      const waiting: string[][] = [[], [], []];
      const turn = () => {
        const before = begun.length;
        const waited = waiting.map((line) => line.length);
        loop.turn();
        const now = begun.slice(before);
        expect(now.length).toBeLessThanOrEqual(
          Math.ceil((loop.isScraped ? SCRAPED_TURN_MS : TURN_MS) / tookMs),
        );
        for (const name of now) {
          expect(waiting[Number(name[0])]?.shift()).toBe(name);
          cancels.delete(name);
        }
        const counts = waited.map((count, panel) => count - (waiting[panel]?.length ?? 0));
        // Among panels that still wait, the numbers of started attempts differ by at most one.
        for (const [panel, line] of waiting.entries())
          if (line.length > 0) expect(Math.max(...counts) - (counts[panel] ?? 0)).toBeLessThanOrEqual(1);
      };
      for (const [index, one] of steps.entries()) {
        if (one.does === 'connect') {
          const names = named(`${one.panel}-${index}-`, one.count);
          const inTurn = lines[one.panel];
          const added = inTurn === undefined ? [] : storm(loop, inTurn, names, begun, tookMs);
          for (const [at, cancel] of added.entries()) cancels.set(names[at] ?? '', cancel);
          waiting[one.panel]?.push(...names);
        } else if (one.does === 'cancel') {
          const name = [...cancels.keys()][one.which % Math.max(1, cancels.size)];
          if (name === undefined) continue;
          cancels.get(name)?.();
          cancels.delete(name);
          const line = waiting[Number(name[0])];
          line?.splice(line.indexOf(name), 1);
        } else {
          loop.isScraped = one.isScraped;
          turn();
        }
      }
      while (!loop.isIdle) turn();
      expect(waiting).toEqual([[], [], []]);
      expect(new Set(begun).size).toBe(begun.length);
    }),
  );
});

it('ten thousand connects that leave and enter again take as long as others', () => {
  const loop = new FakeLoop();
  const inTurn = loop.pacer.line();
  const begun: string[] = [];
  for (let round = 0; round < 20; round += 1)
    for (const cancel of storm(loop, inTurn, named('a', 10_000), begun)) cancel();
  storm(loop, inTurn, named('b', 10_000), begun);
  while (!loop.isIdle) loop.turn();
  expect(begun).toHaveLength(10_000);
});

it('in Node, the work of a connect that follows promises is done before the next one begins, in the same turn', async () => {
  const seen: string[] = [];
  // The clock stands still, so that both start in one turn.
  const inTurn = new ConnectPacer({ ...NODE_LOOP, now: () => 0, isRendering: () => false }).line();
  const connect = async (name: string) => {
    for (let step = 0; step < 10; step += 1) await Promise.resolve();
    seen.push(name);
  };
  inTurn(() => void connect('one'));
  inTurn(() => {
    seen.push('two begins');
    void connect('two');
  });
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(seen).toEqual(['one', 'two begins', 'two']);
});
