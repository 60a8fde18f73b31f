import { afterEach, describe, expect, it, vi } from 'vitest';
import { groupCells } from '../../../../src/status-page/browser/group-cells.tsx';
import type { LiveFleet } from '../../../../src/status-page/browser/live-fleet.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, serverReading } from '../../../support/readings.ts';
import { textOf } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The texts of the cells for a group of servers in a fleet with several nodes. */
function texts(count: number, changes: (index: number) => ServerReadingChanges = () => ({})) {
  const group = Array.from({ length: count }, (_, index) =>
    serverReading({
      node: 'a',
      state: 'offline',
      expected_running: 1,
      collection_up: 1,
      ...changes(index),
      target: { name: `s${index}` },
    }),
  );
  const fleet: LiveFleet = shownFleet([...group, serverReading({ node: 'z' })]);
  const [first, ...others] = fleet.servers.slice(0, count);
  if (first === undefined) throw new Error('no server');
  const cells = groupCells({ key: 'key', servers: [first, ...others] }, fleet);
  return Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, textOf(cell)]));
}

describe('the line of a group', () => {
  it('has the number of servers, what they have in common, their problem, and their names', () => {
    const { problem, ...cells } = texts(6);
    expect(cells).toEqual({ who: '6 serversa', state: 'offlinewaiting', strip: 's0, s1, s2, s3, s4, s5' });
    expect(problem).toMatch(/^Off/);
  });

  it('has no node or state in which they differ', () => {
    expect(texts(5, (index) => ({ node: `n${index}` }))['who']).toBe('5 servers');
    expect(texts(5, (index) => (index === 3 ? { state: 'starting' } : {}))['state']).toBe('');
  });

  it('has twelve names at most', () => {
    expect(texts(12)['strip']).not.toContain('…');
    expect(texts(13)['strip']?.split(', ').slice(-2)).toEqual(['s11', '…']);
  });
});
