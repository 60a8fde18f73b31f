import { describe, expect, it } from 'vitest';
import { target } from '../../../src/commands/console.ts';
import { choosePanels, chooseServer, isServerId, noSuchServer } from '../../../src/console/choose-server.ts';

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
    ['by the full id in upper case', UUID.toUpperCase(), ['main', UUID]],
    ['by the short id of a server listed with a full id', '1a7ce997', ['main', UUID]],
    [
      'by the full id of a server listed with a short id',
      `bbbbbbbb${OTHER.slice(8)}`,
      ['backup', 'bbbbbbbb'],
    ],
    ['by an id that is also its name', 'aaaaaaaa', ['main', 'aaaaaaaa']],
    ['nothing by a different full id with the same beginning', OTHER, undefined],
    ['nothing by part of a name', 'surv', undefined],
    ['nothing by text that only begins like an id', '1a7ce997x', undefined],
    ['nothing by an empty text', '', undefined],
  ])('finds %s', (_how, wanted, expected) => {
    expect(found(wanted)).toEqual(expected);
  });

  it('lists the servers that share an ambiguous name', () => {
    expect(found('lobby')).toBe(
      '"lobby" matches more than one server: lobby (d3aac109) on panel main, lobby (bbbbbbbb) on panel backup; select the panel with --panel, or use an id',
    );
    expect(found('lobby', [BACKUP])).toEqual(['backup', 'bbbbbbbb']);
  });

  it('refuses an id that is also the name of another server, and lists both, unless the panel is selected', () => {
    expect(found('d3aac109')).toBe(
      `"d3aac109" matches more than one server: lobby (d3aac109) on panel main, d3aac109 (cccccccc${OTHER.slice(8)}) on panel backup; select the panel with --panel, or use an id`,
    );
    expect(found('d3aac109', [MAIN])).toEqual(['main', 'd3aac109']);
    expect(found('d3aac109', [BACKUP])).toEqual(['backup', `cccccccc${OTHER.slice(8)}`]);
  });

  it('prefers the id to the name on one panel', () => {
    const both = panel('both', [
      [UUID, 'dddddddd'],
      ['dddddddd', 'lobby'],
    ]);
    expect(found('dddddddd', [both])).toEqual(['both', 'dddddddd']);
    expect(found('dddddddd', [both, MAIN])).toContain('matches more than one server');
  });

  it('counts a server that is listed twice, with its short and its full id, once', () => {
    const twice = panel('twice', [
      ['1a7ce997', 'survival'],
      [UUID, 'survival'],
    ]);
    expect(found('survival', [twice, BACKUP])).toEqual(['twice', '1a7ce997']);
  });
});

describe('choosePanels', () => {
  it('returns the named panel, or all', () => {
    expect(choosePanels(PANELS, undefined)).toBe(PANELS);
    expect(choosePanels(PANELS, 'backup')).toEqual([BACKUP]);
    expect(choosePanels(PANELS, 'nope')).toBe('no panel "nope" in the configuration (panels: main, backup)');
  });
});

it('an unknown server produces a list of at most ten servers', () => {
  expect(noSuchServer([BACKUP], 'x')).toBe('no server "x" in the configuration (servers: lobby, d3aac109)');
  expect(noSuchServer([panel('empty', [])], 'x')).toBe('no server "x" in the configuration (it lists none)');
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
])('%s is a server id: %s', (text, expected) => {
  expect(isServerId(text)).toBe(expected);
});
