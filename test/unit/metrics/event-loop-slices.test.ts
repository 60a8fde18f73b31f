import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isScraped, Slices, type Walk, type WalkKind } from '../../../src/metrics/event-loop-slices.ts';
import { encodeChunks, renderBody } from '../../../src/metrics/rendered-body.ts';
import { nextTurn } from '../../support/next-turn.ts';

/** A walk with this many steps. `taken` is the number of completed steps. */
class Steps {
  taken = 0;
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  *blocks(): Generator<string, void, void> {
    for (; this.taken < this.#count; this.taken += 1) yield 'step';
  }
}

/** Slices with a clock that advances by a millisecond with each reading. */
function slicesOfSteps(): Slices {
  let elapsedMs = 0;
  return new Slices(() => (elapsedMs += 1));
}

test.each<[WalkKind, number]>([
  ['scrape', 5],
  ['view', 2],
])(
  'a %s yields to the event loop every %d milliseconds, however few steps that is',
  async (kind, sliceMs) => {
    let turns = 0;
    let isRunning = true;
    const turn = () => {
      turns += 1;
      if (isRunning) setImmediate(turn);
    };
    setImmediate(turn);
    const steps = new Steps(50);
    // Each step takes a millisecond, and everything else takes no time.
    await walked(steps, kind, new Slices(() => steps.taken));
    isRunning = false;
    expect(turns).toBeGreaterThanOrEqual(40 / sliceMs);
  },
);

test.each<[string, WalkKind, restMs: number, sliceMs: number]>([
  ['a scrape takes eight times as long as other work took', 'scrape', 2, 16],
  ['a scrape and other work take 20 ms together', 'scrape', 6, 14],
  ['a scrape takes 10 ms after a longer turn', 'scrape', 80, 10],
  ['a scrape takes 5 ms if nothing else works', 'scrape', 0, 5],
  ['a view takes a sixteenth of the time of other work', 'view', 80, 5],
  ['a view takes 2 ms at least', 'view', 16, 2],
  ['a view takes 10 ms at most', 'view', 500, 10],
])('%s', async (_what, kind, restMs, sliceMs) => {
  let now = 0;
  const walk = new Slices(() => now).begin(kind);
  now = 5;
  const rest = walk.pause();
  expect(rest).toBeInstanceOf(Promise);
  now += restMs;
  await rest;
  now += sliceMs - 1;
  expect(walk.pause()).toBeUndefined();
  now += 1;
  expect(walk.pause()).toBeInstanceOf(Promise);
});

describe('a view rests while a scrape is rendered', () => {
  let slices: Slices;
  let scrape: Walk;
  let isResting: boolean;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    slices = new Slices(() => 0);
    scrape = slices.begin('scrape');
    isResting = true;
    void slices
      .begin('view')
      .pause()
      ?.then(() => (isResting = false));
  });

  afterEach(() => vi.useRealTimers());

  test('until the turn after its end, so that its response is sent first', async () => {
    vi.advanceTimersByTime(499);
    await twoTurns();
    expect(isResting).toBe(true);
    scrape.end();
    await Promise.resolve();
    expect(isResting).toBe(true);
    await twoTurns();
    expect(isResting).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('for half a second at most', async () => {
    vi.advanceTimersByTime(500);
    await twoTurns();
    expect(isResting).toBe(false);
  });

  test('and while another is', async () => {
    const other = slices.begin('scrape');
    scrape.end();
    await twoTurns();
    expect(isResting).toBe(true);
    other.end();
    await twoTurns();
    expect(isResting).toBe(false);
  });
});

test('a scrape takes no more after a single long turn, such as a collection of its own garbage', async () => {
  let now = 0;
  const walk = new Slices(() => now).begin('scrape');
  now = 5;
  let rest = walk.pause();
  const slicesMs: number[] = [];
  for (const turnMs of [0, 6, 0, 6, 6]) {
    now += turnMs;
    await rest;
    const startedAt = now;
    for (rest = walk.pause(); rest === undefined; rest = walk.pause()) now += 1;
    slicesMs.push(now - startedAt);
  }
  expect(slicesMs).toEqual([5, 5, 5, 5, 14]);
});

test('views rest while a scrape is rendered, and go on then', async () => {
  const slices = slicesOfSteps();
  const scrape = new Steps(500);
  const views = [new Steps(500), new Steps(500)];
  const ends = views.map((view) => walked(view, 'view', slices));
  await walked(scrape, 'scrape', slices);
  // On a busy machine, the scrape may take so long that the views get a few slices.
  for (const { taken } of views) expect(taken).toBeLessThan(100);
  await Promise.all(ends);
  expect(views.map(({ taken }) => taken)).toEqual([500, 500]);
});

test('a scrape is seen while it is rendered, and no view is', async () => {
  const seen: boolean[] = [];
  const blocks = function* () {
    seen.push(isScraped());
    yield 'step';
  };
  for (const kind of ['scrape', 'view'] as const) await renderBody(blocks(), 'identity', kind);
  expect(seen).toEqual([true, false]);
  expect(isScraped()).toBe(false);
});

test('a scrape lasts until its last piece is compressed', async () => {
  const blocks = Array.from({ length: 40 }, (_, i) => `${i}`.repeat(50_000));
  const isDone = renderBody(blocks, 'gzip', 'scrape').then(() => true);
  const seen: boolean[] = [];
  while (!(await Promise.race([isDone, nextTurn()]))) seen.push(isScraped());
  expect(new Set(seen)).toEqual(new Set([true]));
  expect(isScraped()).toBe(false);
});

test('a scrape that fails holds up no view', async () => {
  const failing = function* (): Generator<string, void, void> {
    yield 'step';
    throw new Error('a bug');
  };
  await expect(renderBody(failing(), 'gzip', 'scrape')).rejects.toThrow('a bug');
  expect(isScraped()).toBe(false);
});

async function twoTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Resolves when all steps of the walk are complete. */
async function walked(steps: Steps, kind: WalkKind, slices: Slices): Promise<void> {
  const walk = slices.begin(kind);
  for await (const _ of encodeChunks(steps.blocks(), walk));
  walk.end();
}
