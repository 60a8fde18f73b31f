import { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HeldBodies, type RouteEnv } from '../../../src/http/held-bodies.ts';
import type { WalkKind } from '../../../src/metrics/event-loop-slices.ts';
import { renderBody } from '../../../src/metrics/rendered-body.ts';
import { deferred } from '../../support/deferred.ts';
import { nextTurn } from '../../support/next-turn.ts';

test.each([
  ['gzip', true],
  ['GZIP', true],
  ['deflate, gzip;q=0.5, br', true],
  ['gzip ; q=1.000', true],
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br', false],
  ['gzipped', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000', false],
  ['gzip;q=0, *', false],
  ['*;q=0', false],
])('a body for Accept-Encoding %j is compressed: %s', async (header, isCompressed) => {
  const bodies = new HeldBodies(100);
  const app = new Hono<RouteEnv>().get('/', (c) =>
    bodies.respond(c, {}, async (encoding) => ({ chunks: [Buffer.from(encoding)], bytes: encoding.length })),
  );
  const init = header === undefined ? {} : { headers: { 'Accept-Encoding': header } };
  const response = await app.request('/', init, {});
  expect(response.headers.get('Content-Encoding')).toBe(isCompressed ? 'gzip' : null);
  expect(await response.text()).toBe(isCompressed ? 'gzip' : 'identity');
});

describe('the rest of a body in flight when a scrape begins', () => {
  beforeEach(() => {
    // Fake timers, so that the longest rest doesn't end.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(() => vi.useRealTimers());

  test.each<[WalkKind, writtenMeanwhile: string]>([
    ['view', 'a'],
    ['scrape', 'abc'],
  ])('of a %s: of "abc", "%s" is written before the scrape is rendered', async (kind, writtenMeanwhile) => {
    const chunks = ['a', 'b', 'c'].map((part) => Buffer.from(part));
    const app = new Hono<RouteEnv>().get('/', (c) =>
      new HeldBodies(100).respond(c, {}, async () => ({ chunks, bytes: 3 }), kind),
    );
    const body = (await app.request('/', {}, {})).body?.values();
    let written = `${(await body?.next())?.value}`;
    const text = deferred<string>();
    const scrape = renderBody([text.promise], 'identity', 'scrape');
    const end = (async () => {
      for await (const part of body ?? []) written += `${part}`;
    })();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(written).toBe(writtenMeanwhile);
    text.resolve('the scrape');
    await Promise.all([scrape, end]);
    expect(written).toBe('abc');
  });
});

describe('held bodies', () => {
  let held: HeldBodies;
  let cut: string[];

  beforeEach(() => {
    held = new HeldBodies(100);
    cut = [];
  });

  const body = (bytes: number) => ({ chunks: [], bytes });
  const hold = (of: ReturnType<typeof body>, name: string) => held.hold(of, () => cut.push(name));

  test('are all kept while they fit', () => {
    for (const name of ['a', 'b', 'c', 'd']) hold(body(25), name);
    expect(cut).toEqual([]);
  });

  test('are dropped, oldest first and with all their readers, to make room for the newest', () => {
    const first = body(60);
    hold(first, 'a');
    hold(body(30), 'b');
    hold(first, 'c');
    hold(body(70), 'd');
    expect(cut).toEqual(['a', 'c']);
  });

  test('count once for all their readers', () => {
    const shared = body(100);
    for (let reader = 0; reader < 1_000; reader += 1) hold(shared, `${reader}`);
    expect(cut).toEqual([]);
  });

  test('always include the newest, however large it is', () => {
    hold(body(10), 'a');
    hold(body(1_000), 'b');
    expect(cut).toEqual(['a']);
    hold(body(5), 'c');
    expect(cut).toEqual(['a', 'b']);
  });

  test('free their space once when released', () => {
    const shared = body(100);
    const [release, releaseOther] = [hold(shared, 'a'), hold(shared, 'b')];
    release();
    release();
    releaseOther();
    hold(body(100), 'c');
    expect(cut).toEqual([]);
  });

  test('free no space twice if released after being dropped', () => {
    const release = hold(body(100), 'a');
    hold(body(100), 'b');
    release();
    hold(body(100), 'c');
    expect(cut).toEqual(['a', 'b']);
  });

  test('are held again for new readers after being cut, whenever the cut readers leave', () => {
    const shared = body(60);
    const release = hold(shared, 'a');
    hold(body(100), 'b');
    hold(shared, 'c');
    release();
    hold(body(50), 'd');
    expect(cut).toEqual(['a', 'b', 'c']);
  });
});
