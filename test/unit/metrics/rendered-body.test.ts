import { beforeEach, describe, expect, it, test } from 'vitest';
import {
  encodeChunks,
  isScraped,
  type RenderedBody,
  SCRAPES,
  SharedBodies,
  Slices,
  VIEWS,
  type WalkKind,
} from '../../../src/metrics/rendered-body.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('chunks contain the blocks unchanged, whatever their sizes', async () => {
  const blocks = ['', 'é'.repeat(400_000), 'x', '', '生'.repeat(10), 'y'.repeat(600_000), 'z'];
  const chunks = await copiesOf(encodeChunks(blocks, 'scrape'));
  expect(Buffer.concat(chunks).toString()).toBe(blocks.join(''));
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(1_000_000);
});

/** A walk of this many steps; `taken` counts those so far. */
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

/** Each look at the clock takes a millisecond. */
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
    await copiesOf(encodeChunks(new Steps(40).blocks(), kind, slicesOfSteps()));
    isRunning = false;
    expect(turns).toBeGreaterThanOrEqual(40 / sliceMs);
  },
);

test.each<[string, WalkKind, restMs: number, sliceMs: number]>([
  ['a scrape takes as long as other work took', 'scrape', 9, 9],
  ['a scrape takes 15 ms after a longer turn', 'scrape', 80, 15],
  ['a scrape takes 5 ms if nothing else works', 'scrape', 0, 5],
  ['a view takes 2 ms, whatever else works', 'view', 80, 2],
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

test('views rest while a scrape is rendered, and go on then', async () => {
  const slices = slicesOfSteps();
  const scrape = new Steps(500);
  const views = [new Steps(500), new Steps(500)];
  const ends = views.map((view) => copiesOf(encodeChunks(view.blocks(), 'view', slices)));
  await copiesOf(encodeChunks(scrape.blocks(), 'scrape', slices));
  // A busy machine may take so long for the scrape that they get a few slices.
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
  for (const kind of ['scrape', 'view'] as const) await copiesOf(encodeChunks(blocks(), kind));
  expect(seen).toEqual([true, false]);
  expect(isScraped()).toBe(false);
});

test('a scrape that is abandoned holds up no view', async () => {
  const slices = new Slices(() => 0);
  for await (const _ of encodeChunks(['x'.repeat(300_000), 'y'.repeat(300_000)], 'scrape', slices)) break;
  expect(slices.begin('view').pause()).toBeUndefined();
  const scrape = slices.begin('scrape');
  expect(slices.begin('view').pause()).toBeInstanceOf(Promise);
  scrape.end();
});

/** A piece is only valid until the next one is requested. */
async function copiesOf(pieces: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const copies: Buffer[] = [];
  for await (const piece of pieces) copies.push(Buffer.from(piece));
  return copies;
}

const BODY: RenderedBody = { chunks: [], bytes: 0 };

let clock: ManualClock;
let bodies: SharedBodies;
let renders: { key: string; render: Deferred<RenderedBody> }[];

beforeEach(() => {
  clock = new ManualClock();
  bodies = new SharedBodies(clock, VIEWS);
  renders = [];
});

const get = (key: string) =>
  bodies.get(key, () => {
    const render = deferred<RenderedBody>();
    renders.push({ key, render });
    return render.promise;
  });
const begun = () => renders.map(({ key }) => key);

describe('bodies that are shared for a second', () => {
  it('are rendered one at a time, each once', async () => {
    const [one] = [get('a'), get('b'), get('a'), get('b')];
    await clock.advance(0);
    expect(begun()).toEqual(['a']);
    renders[0]?.render.resolve(BODY);
    expect(await one).toBe(BODY);
    await clock.advance(0);
    expect(begun()).toEqual(['a', 'b']);
  });

  it('are dropped a second after the start of their render', async () => {
    void get('a');
    await clock.advance(400);
    renders[0]?.render.resolve(BODY);
    await clock.advance(599);
    expect([await get('a'), clock.pending]).toEqual([BODY, 1]);
    await clock.advance(2);
    expect(clock.pending).toBe(0);
    void get('a');
    await clock.advance(0);
    expect(begun()).toEqual(['a', 'a']);
  });

  it('are not shared if their render failed', async () => {
    const failed = get('a').catch((error: Error) => error.message);
    await clock.advance(0);
    renders[0]?.render.reject(new Error('broken'));
    expect(await failed).toBe('broken');
    void get('a');
    await clock.advance(0);
    expect(begun()).toEqual(['a', 'a']);
  });

  it('leave no timers after a stop, even if one was being rendered', async () => {
    void get('a');
    void get('b');
    await clock.advance(0);
    renders[0]?.render.resolve(BODY);
    await clock.advance(0);
    bodies.stop();
    renders[1]?.render.resolve(BODY);
    await clock.advance(0);
    expect(clock.pending).toBe(0);
  });
});

it('scrapes within 50 ms share a render, and all later ones the next, which never runs beside it', async () => {
  bodies = new SharedBodies(clock, SCRAPES);
  const next: RenderedBody = { chunks: [], bytes: 1 };
  const first = get('a');
  await clock.advance(50);
  const second = get('a');
  await clock.advance(1);
  const third = get('a');
  await clock.advance(10_000);
  const fourth = get('a');
  expect(begun()).toEqual(['a']);
  renders[0]?.render.resolve(BODY);
  expect(await Promise.all([first, second])).toEqual([BODY, BODY]);
  await clock.advance(0);
  const fifth = get('a');
  expect(begun()).toEqual(['a', 'a']);
  renders[1]?.render.resolve(next);
  expect(await Promise.all([third, fourth, fifth])).toEqual([next, next, next]);
  void get('a');
  await clock.advance(0);
  expect(begun()).toEqual(['a', 'a', 'a']);
});
