import { describe, expect, it } from 'vitest';
import { order } from '../../../../src/status-page/browser/shown-servers.ts';
import { SORT_KEYS } from '../../../../src/status-page/browser/sorting.ts';
import type { View } from '../../../../src/status-page/browser/view.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { fleet, named, servers } from './named-servers.ts';

const ALL: Omit<View, 'open'> = { q: '', show: '', sort: '' };

const names = (changes: Partial<View>) => order(fleet, { ...ALL, ...changes }).map(({ server }) => server);

describe('the order', () => {
  it('begins with servers that have problems, those that are counted first, followed by the order of the configuration', () => {
    expect(names({})).toEqual(['arena', 'Broken', 'lobby-10', 'lobby-2']);
  });

  it('continues with servers that crashed in the last hour', () => {
    const unwanted_stops = [{ timestamp_seconds: 1_700_000_900, reason: 'crashed' }] as const;
    const crashed = shownFleet([
      named('calm', 1),
      named('restarted', 1, { unwanted_stops }),
      ...servers.slice(2),
    ]);
    expect(order(crashed, ALL).map(({ server }) => server)).toEqual(['arena', 'Broken', 'restarted', 'calm']);
  });

  it.each([
    ['name', false, ['arena', 'Broken', 'lobby-2', 'lobby-10']],
    ['name', true, ['lobby-10', 'lobby-2', 'Broken', 'arena']],
    ['cpu', true, ['lobby-2', 'Broken', 'lobby-10', 'arena']],
    ['cpu', false, ['lobby-10', 'Broken', 'lobby-2', 'arena']],
    ['state', false, ['arena', 'lobby-10', 'lobby-2', 'Broken']],
    ['node', false, ['lobby-2', 'lobby-10', 'arena', 'Broken']],
    ['uptime', false, ['Broken', 'lobby-10', 'lobby-2', 'arena']],
  ] as const)('is by %s, descending %s', (key, isDescending, expected) => {
    expect(names({ sort: isDescending ? `-${key}` : key })).toEqual(expected);
  });

  it('has a comparison for every sort key', () => {
    for (const key of SORT_KEYS) {
      expect(names({ sort: `-${key}` })).toHaveLength(4);
    }
  });

  it.each([
    ['attention', 'any', ['arena']],
    ['attention', 'off', ['arena']],
    ['verdict', 'down', ['arena']],
    ['verdict', 'minor', ['Broken']],
    ['verdict', 'warning', []],
    ['attention', 'crashed', []],
    ['state', 'offline', ['arena']],
    ['condition', 'failing', ['Broken']],
    ['panel', 'main', ['arena', 'Broken', 'lobby-10', 'lobby-2']],
    ['panel', 'other', []],
  ] as const)('contains only servers with %s %s', (kind, word, expected) => {
    expect(names({ show: `${kind}:${word}` })).toEqual(expected);
  });
});
