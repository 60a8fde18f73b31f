import { describe, expect, it } from 'vitest';
import { choosePanels, chooseServer, isServerId, noSuchServer } from '../../../src/console/choose-server.ts';
import { target } from '../../../src/console/find-listed.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const OTHER = '1a7ce997-0000-4000-8000-000000000000';

const panel = (name: string, servers: readonly (readonly [id: string, name: string])[]) => ({
  name,
  servers: servers.map(([id, server]) => target(name, id, server)),
});

const MAIN = panel('main', [
  [UUID, 'survival'],
  ['d3aac109', 'lobby'],
  ['aaaaaaaa', 'aaaaaaaa'],
]);
const BACKUP = panel('backup', [
  ['bbbbbbbb', 'lobby'],
  [`cccccccc${OTHER.slice(8)}`, 'd3aac109'],
]);
const PANELS = [MAIN, BACKUP];

const found = (wanted: string, panels = PANELS) => {
  const chosen = chooseServer(panels, wanted);
  return typeof chosen === 'object' ? [chosen.panel.name, chosen.target.id] : chosen;
};

describe('chooseServer', () => {
  it.each([
    ['by name', 'survival', ['main', UUID]],
    ['by the full id', UUID, ['main', UUID]],
    ['by the full id in capitals', UUID.toUpperCase(), ['main', UUID]],
    ['by the short id of a server with a full one', '1a7ce997', ['main', UUID]],
    ['by the full id of a server with a short one', `bbbbbbbb${OTHER.slice(8)}`, ['backup', 'bbbbbbbb']],
    ['by an id that is its name', 'aaaaaaaa', ['main', 'aaaaaaaa']],
    ['by a name that is the id of another', 'd3aac109', ['backup', `cccccccc${OTHER.slice(8)}`]],
    ['not by another full id with the same beginning', OTHER, undefined],
    ['not by a part of a name', 'surv', undefined],
    ['not by what only begins like an id', '1a7ce997x', undefined],
    ['not by nothing', '', undefined],
  ])('finds %s', (_how, wanted, expected) => {
    expect(found(wanted)).toEqual(expected);
  });

  it('says which there are where a name is that of more than one', () => {
    expect(found('lobby')).toBe(
      '"lobby" is the name of more than one server: lobby (d3aac109) on panel main, lobby (bbbbbbbb) on panel backup; name the panel with --panel, or give an id',
    );
    expect(found('lobby', [BACKUP])).toEqual(['backup', 'bbbbbbbb']);
  });
});

describe('choosePanels', () => {
  it('gives the one that is named, or all', () => {
    expect(choosePanels(PANELS, undefined)).toBe(PANELS);
    expect(choosePanels(PANELS, 'backup')).toEqual([BACKUP]);
    expect(choosePanels(PANELS, 'nope')).toBe('no panel "nope" in the configuration: there is main, backup');
  });
});

it('says which servers there are, ten at most', () => {
  expect(noSuchServer([BACKUP], 'x')).toBe('no server "x" in the configuration: there is lobby, d3aac109');
  expect(noSuchServer([panel('empty', [])], 'x')).toBe('no server "x" in the configuration: it names none');
  const many = panel(
    'many',
    Array.from({ length: 12 }, (_, i) => [`0000000${i.toString(16)}`, `s${i}`] as const),
  );
  expect(noSuchServer([many], 'x')).toContain('s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 2 more');
});

it.each([
  [UUID, true],
  ['1A7CE997', true],
  ['1a7ce99', false],
  ['survival', false],
])('%s as an id: %s', (text, expected) => {
  expect(isServerId(text)).toBe(expected);
});
