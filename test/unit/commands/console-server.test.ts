import { describe, expect, it } from 'vitest';
import { chooseServer, panelServers, target } from '../../../src/commands/console-server.ts';
import type { PanelConfig } from '../../../src/config/config.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const OTHER = '1a7ce997-0000-4000-8000-000000000000';

const panel = (name: string, servers: readonly (readonly [id: string, name: string])[]) =>
  ({ name, servers: servers.map(([id, server]) => target(name, id, server)) }) as unknown as PanelConfig;

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
  const chosen = chooseServer(panels.flatMap(panelServers), wanted);
  return chosen && [chosen.panel.name, chosen.target.id];
};

describe('chooseServer', () => {
  it.each([
    ['by name', 'survival', ['main', UUID]],
    ['by the full id', UUID, ['main', UUID]],
    ['by the identifier of newer panels', 'serv_dj6otfzftncs5c2oz3gemqkczi', ['main', UUID]],
    [
      'by the identifier of a server listed with a short id',
      'serv_2ovmccjftncs5c2oz3gemqkczi',
      ['main', 'd3aac109'],
    ],
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
    expect(() => found('lobby')).toThrow(
      '"lobby" matches more than one server: lobby (d3aac109) on panel main, lobby (bbbbbbbb) on panel backup; select the panel with --panel, or use an id',
    );
    expect(found('lobby', [BACKUP])).toEqual(['backup', 'bbbbbbbb']);
  });

  it('refuses an id that is also the name of another server, and lists both, unless the panel is selected', () => {
    expect(() => found('d3aac109')).toThrow(
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
    expect(() => found('dddddddd', [both, MAIN])).toThrow('matches more than one server');
  });
});
