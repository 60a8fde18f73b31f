import { describe, expect, it } from 'vitest';
import { LiveFleet } from '../../../../src/status-page/browser/live-fleet.ts';
import { order, SORT_KEYS } from '../../../../src/status-page/browser/order.ts';
import type { ServerSelection } from '../../../../src/status-page/browser/view.ts';
import { Ledger } from '../../../../src/status-page/data/ledger.ts';
import { LiveEncoder } from '../../../../src/status-page/data/live-encoder.ts';
import {
  FULL_SAMPLE,
  READ_AT,
  type ServerReadingChanges,
  streamingReading,
} from '../../../support/readings.ts';

const ALL: ServerSelection = { search: '', filter: undefined, sorting: undefined };

const named = (name: string, cpuCores: number | undefined, changes: ServerReadingChanges = {}) => {
  const { cpuCores: _, ...rest } = FULL_SAMPLE;
  const sample = cpuCores === undefined ? rest : { ...rest, cpuCores };
  return streamingReading({ sample, ...changes, target: { id: name, name, ...changes.target } });
};

const ARENA = '1a7ce997-259b-452e-8b4e-cecc464142ca';

const ledger = new Ledger();
ledger.observe(
  [
    named('lobby-10', 1),
    named('lobby-2', 3, { target: { node: 'berlin', labels: { game: 'minecraft' } } }),
    named('arena', undefined, {
      state: 'offline',
      startedAt: undefined,
      starts: 1,
      lastStop: { at: READ_AT - 90_000_000, reason: 'crashed', exitCode: 137 },
      target: { uuid: ARENA },
    }),
    named('Broken', 2, {
      starts: 9,
      startedAt: READ_AT - 5_000,
      status: {
        condition: 'failing',
        problem: { cause: 'node_dns', detail: 'the node could not be reached' },
      },
    }),
  ],
  READ_AT,
  0,
);
const clock = { toUnixMs: (ms: number) => ms };
const fleet = new LiveFleet(
  new LiveEncoder({ entries: ledger.entries, panels: [], now: READ_AT }, '1', clock).full(),
);
const names = (changes: Partial<ServerSelection>) =>
  order(fleet, { ...ALL, ...changes }).map((server) => fleet.name(server));

describe('the order', () => {
  it('begins with what needs attention, followed by the order of the configuration', () => {
    expect(names({})).toEqual(['arena', 'lobby-10', 'lobby-2', 'Broken']);
  });

  it.each([
    ['name', false, ['arena', 'Broken', 'lobby-2', 'lobby-10']],
    ['name', true, ['lobby-10', 'lobby-2', 'Broken', 'arena']],
    ['cpu', true, ['lobby-2', 'Broken', 'lobby-10', 'arena']],
    ['cpu', false, ['lobby-10', 'Broken', 'lobby-2', 'arena']],
    ['state', false, ['arena', 'lobby-10', 'lobby-2', 'Broken']],
    ['trouble', false, ['Broken', 'arena', 'lobby-10', 'lobby-2']],
    ['node', false, ['lobby-2', 'lobby-10', 'arena', 'Broken']],
    ['labels', false, ['lobby-2', 'lobby-10', 'arena', 'Broken']],
    ['condition', true, ['lobby-10', 'lobby-2', 'arena', 'Broken']],
    ['starts', true, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
    ['uptime', false, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
  ] as const)('is by %s, descending %s', (key, isDescending, expected) => {
    expect(names({ sorting: { key, isDescending } })).toEqual(expected);
  });

  it('has a comparison for every sort key', () => {
    for (const key of SORT_KEYS) {
      expect(names({ sorting: { key, isDescending: true } })).toHaveLength(4);
    }
  });

  it.each([
    ['LOBBY', ['lobby-10', 'lobby-2']],
    ['berlin', ['lobby-2']],
    ['game=mine lobby', ['lobby-2']],
    [ARENA.slice(9), ['arena']],
    ['reached', ['Broken']],
    ['node_dns', ['Broken']],
    ['resolved', ['Broken']],
    ['failing', ['Broken']],
    // The text of the row, and the text that the page shows instead of a code.
    ['fix DNS on this machine', ['Broken']],
    ['but expected to run', ['arena']],
    ['start it', ['arena']],
    ['exit code 137', ['arena']],
    ['nobody', []],
  ])('contains the matches of %s', (search, expected) => expect(names({ search })).toEqual(expected));

  it.each([
    ['attention', 'any', ['arena']],
    ['attention', 'off', ['arena']],
    ['attention', 'crashed', []],
    ['state', 'offline', ['arena']],
    ['condition', 'failing', ['Broken']],
    ['panel', 'main', ['arena', 'lobby-10', 'lobby-2', 'Broken']],
    ['panel', 'other', []],
  ] as const)('contains only servers with %s %s', (kind, word, expected) => {
    expect(names({ filter: { kind, word } })).toEqual(expected);
  });
});
