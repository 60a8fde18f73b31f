import { expect, it } from 'vitest';
import { BROKEN, isTreeMap, type KeyPath, valueAt } from '../../../src/yaml/tree.ts';

const TREE = { panels: [{ name: 'main', url: BROKEN }, { name: null }] };

it.each<[KeyPath, unknown]>([
  [[], TREE],
  [['panels', 0, 'name'], 'main'],
  [['panels', 1, 'name'], null],
  [['panels', 2], undefined],
  [['panels', 0, 'key'], undefined],
  [['panels', 0, 'name', 'length'], undefined],
  [['panels', 0, 'url', 'host'], BROKEN],
  [['panels', 'length'], 2],
  [['toString'], undefined],
])('the value at %j is %s', (path, value) => {
  expect(valueAt(TREE, path)).toBe(value);
});

it.each([
  [{}, true],
  [[], false],
  [null, false],
  ['text', false],
  [new Map(), false],
])('%j as a map: %s', (tree, expected) => {
  expect(isTreeMap(tree)).toBe(expected);
});
