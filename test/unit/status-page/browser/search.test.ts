import { describe, expect, it } from 'vitest';
import { matches } from '../../../../src/status-page/browser/search.ts';
import { ARENA, fleet } from './named-servers.ts';

describe('the search', () => {
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
  ])('finds the servers that match %s', (search, expected) => {
    const terms = search.toLowerCase().split(' ');
    const found = fleet.servers.filter((server) => matches(server, terms));
    expect(found.map(({ server }) => server)).toEqual(expected);
  });
});
