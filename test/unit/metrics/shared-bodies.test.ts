import { beforeEach, describe, expect, it } from 'vitest';
import type { RenderedBody } from '../../../src/metrics/rendered-body.ts';
import { SCRAPES, SharedBodies, VIEWS } from '../../../src/metrics/shared-bodies.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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
