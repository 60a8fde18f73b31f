import { describe, expect, it } from 'vitest';
import {
  asFields,
  asId,
  asText,
  completedBackup,
  cpuLimit,
  instant,
  limit,
  parseJson,
  parseServerState,
  pathPart,
  serverLimits,
  swapLimit,
  valueIn,
} from '../../../../src/panel/dialects/wire.ts';

const MIB = 1_048_576;

describe('a value of a response', () => {
  it.each([
    ['fields', asFields({ a: 1 }), { a: 1 }],
    ['fields of a list', asFields([1]), undefined],
    ['fields of null', asFields(null), undefined],
    ['text', asText('a'), 'a'],
    ['an empty text', asText(''), undefined],
    ['a number as text', asText(1), undefined],
    ['an id', asId('1a7ce997'), '1a7ce997'],
    ['the longest id', asId('x'.repeat(64)), 'x'.repeat(64)],
    ['an id that no panel has', asId('x'.repeat(65)), undefined],
    ['a nested value', valueIn({ a: { b: 1 } }, 'a', 'b'), 1],
    ['a nested value that is missing', valueIn({ a: 'b' }, 'a', 'b', 'c'), undefined],
    ['JSON', parseJson('[1]'), [1]],
    ['no JSON', parseJson('['), undefined],
    ['an instant', instant('2026-11-29T06:00:00+00:00'), Date.UTC(2026, 10, 29, 6)],
    ['no instant', instant('soon'), undefined],
    ['null as an instant', instant(null), undefined],
  ])('%s', (_what, value, expected) => {
    expect(value).toEqual(expected);
  });
});

describe('a limit', () => {
  it.each<[unknown, unknown, unknown]>([
    [0, 'unlimited', 0],
    [-1, undefined, 'unlimited'],
    [512, 512 * MIB, 512 * MIB],
    [Number.MAX_SAFE_INTEGER, undefined, undefined],
    [Number.NaN, undefined, undefined],
    ['512', undefined, undefined],
    [null, undefined, undefined],
  ])('of %j MiB is %s, and as swap %s', (value, expected, swap) => {
    expect([limit(value, MIB), swapLimit(value)]).toEqual([expected, swap]);
  });

  it.each<[unknown, unknown]>([
    [150, 1.5],
    [0, 'unlimited'],
    ['150', undefined],
  ])('of %j percent is %s cores', (value, cores) => {
    expect(cpuLimit(value)).toBe(cores);
  });
});

it.each([
  ['running', 'running'],
  ['stopped', 'offline'],
  ['offline', 'offline'],
  ['hibernating', 'unknown'],
])('the state %s is %s', (word, state) => {
  expect(parseServerState(word)).toBe(state);
});

it.each([
  ['1a7ce997', '1a7ce997'],
  ['../a b', '%2E%2E%2Fa%20b'],
])('the id %s is %s in a path', (id, part) => {
  expect(pathPart(id)).toBe(part);
});

describe('a backup', () => {
  const AT = '2026-11-29T06:00:00+00:00';
  const completedAtMs = Date.UTC(2026, 10, 29, 6);

  it.each<[string, readonly unknown[], object | undefined]>([
    ['succeeded', [true, AT, 7], { isSuccessful: true, completedAtMs, bytes: 7 }],
    ['failed', [false, AT, 0], { isSuccessful: false, completedAtMs, bytes: 0 }],
    ['is in progress', [false, null, 0], undefined],
    ['has no outcome', ['yes', AT, 0], undefined],
    ['has a size that no disk has', [true, AT, 1e300], { isSuccessful: true, completedAtMs }],
    ['has a negative size', [true, AT, -1], { isSuccessful: true, completedAtMs }],
  ])('that %s', (_what, [isSuccessful, completed, bytes], expected) => {
    expect(completedBackup(isSuccessful, completed, bytes)).toEqual(expected);
  });
});

it('the limits of a server are in bytes and cores, and unknown without a number', () => {
  expect(serverLimits({ memory: 1, disk: 0, cpu: 150, swap: -1 })).toEqual({
    memoryBytes: MIB,
    diskBytes: 'unlimited',
    cpuCores: 1.5,
    swapBytes: 'unlimited',
  });
  expect(serverLimits(undefined)).toEqual({});
});
