import { beforeEach, expect, test } from 'vitest';
import { HeldBodies } from '../../../src/http/held-bodies.ts';

let held: HeldBodies;
let cut: string[];

beforeEach(() => {
  held = new HeldBodies(100);
  cut = [];
});

const body = (bytes: number) => ({ chunks: [], bytes });
const hold = (of: ReturnType<typeof body>, name: string) => held.hold(of, () => cut.push(name));

test('all that fit are held', () => {
  for (const name of ['a', 'b', 'c', 'd']) hold(body(25), name);
  expect(cut).toEqual([]);
});

test('the oldest make room for the newest, with all their readers', () => {
  const first = body(60);
  hold(first, 'a');
  hold(body(30), 'b');
  hold(first, 'c');
  hold(body(70), 'd');
  expect(cut).toEqual(['a', 'c']);
});

test('readers of one body cost it once', () => {
  const shared = body(100);
  for (let reader = 0; reader < 1_000; reader += 1) hold(shared, `${reader}`);
  expect(cut).toEqual([]);
});

test('the newest is held however large it is', () => {
  hold(body(10), 'a');
  hold(body(1_000), 'b');
  expect(cut).toEqual(['a']);
  hold(body(5), 'c');
  expect(cut).toEqual(['a', 'b']);
});

test('what is released makes room, once', () => {
  const shared = body(100);
  const [release, releaseOther] = [hold(shared, 'a'), hold(shared, 'b')];
  release();
  release();
  releaseOther();
  hold(body(100), 'c');
  expect(cut).toEqual([]);
});

test('a release after the cut gives nothing back twice', () => {
  const release = hold(body(100), 'a');
  hold(body(100), 'b');
  release();
  hold(body(100), 'c');
  expect(cut).toEqual(['a', 'b']);
});
