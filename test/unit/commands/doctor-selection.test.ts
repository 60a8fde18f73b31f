import { describe, expect, it } from 'vitest';
import { type DoctorSelection, select, withServer } from '../../../src/commands/doctor-selection.ts';
import type { Config, PanelConfig } from '../../../src/config/config.ts';
import type { DoctorReport } from '../../../src/doctor/report.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { target } from '../../support/targets.ts';
import { doctorReport, panelReport, problem, serverReport } from '../doctor/reports.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

const panelConfig = (name: string, servers: PanelConfig['servers'], isDiscovering = false) =>
  ({
    name,
    servers,
    listing: { intervalMs: 300_000, ...(isDiscovering && { discover: {} }) },
  }) as unknown as PanelConfig;

const MAIN = panelConfig('main', [
  target({ id: UUID, uuid: UUID }),
  target({ id: 'd3aac109', name: 'd3aac109' }),
]);
const PANELS = [MAIN, panelConfig('other', [target({ id: 'ffffffff' })])];
const DISCOVERING = [...PANELS, panelConfig('found', [], true)];

/** The selected panels with their configured servers, or the error. */
function chosen(selection: DoctorSelection, panels = PANELS): unknown {
  const selected = select({ panels } as unknown as Config, selection);
  if (typeof selected === 'string') return selected;
  const { config, isMeant = () => true } = selected;
  return config.panels.map(({ name, servers }) => [name, servers.filter(isMeant).map(({ id }) => id)]);
}

describe('the selection of servers', () => {
  it.each<readonly [DoctorSelection, unknown]>([
    [
      {},
      [
        ['main', [UUID, 'd3aac109']],
        ['other', ['ffffffff']],
      ],
    ],
    [{ panel: 'other' }, [['other', ['ffffffff']]]],
    [
      { server: 'survival' },
      [
        ['main', [UUID]],
        ['other', ['ffffffff']],
      ],
    ],
    [{ server: 'survival', panel: 'main' }, [['main', [UUID]]]],
    [{ server: '1a7ce997' }, [['main', [UUID]]]],
    [{ server: UUID.toUpperCase() }, [['main', [UUID]]]],
    [{ server: 'd3aac109-259b-452e-8b4e-cecc464142ca' }, [['main', ['d3aac109']]]],
    [{ server: 'serv_dj6otfzftncs5c2oz3gemqkczi' }, [['main', [UUID]]]],
    [{ server: 'serv_2ovmccjftncs5c2oz3gemqkczi' }, [['main', ['d3aac109']]]],
    [
      { server: 'survivel' },
      'no server "survivel" in the configuration (did you mean "survival"? servers: survival, d3aac109, survival)',
    ],
    [{ panel: 'none' }, 'no panel "none" in the configuration (panels: main, other)'],
    [{ server: 'none' }, 'no server "none" in the configuration (servers: survival, d3aac109, survival)'],
    [{ server: '1a7ce997-0000-0000-0000-000000000000' }, expect.stringMatching(/^no server/)],
  ])('by %j', (selection, expected) => {
    expect(chosen(selection)).toEqual(expected);
  });

  it('searches the server lists if the configuration has no server of that name', () => {
    expect(chosen({ server: 'lobby' }, DISCOVERING)).toEqual([['found', []]]);
    expect(chosen({ server: 'd3aac109' }, DISCOVERING)).toEqual([['main', ['d3aac109']]]);
  });

  it('discovers no other server on the panel of a configured one, but keeps its server list', () => {
    const both = panelConfig('both', [target()], true);
    const selected = select({ panels: [both] } as unknown as Config, { server: 'survival' });
    expect(selected).toMatchObject({ config: { panels: [{ listing: { intervalMs: 300_000 } }] } });
    expect(JSON.stringify(selected)).not.toContain('discover');
  });
});

it('servers without a name of a panel that discovers run until its list names them', () => {
  const both = panelConfig('main', [target(), target({ id: 'd3aac109', name: 'd3aac109' })], true);
  expect(chosen({ server: 'lobby' }, [both])).toEqual([['main', ['d3aac109']]]);
  expect(chosen({ server: 'd3aac109' }, [both])).toEqual([['main', ['d3aac109']]]);
});

describe('a server that was looked up in server lists', () => {
  const panel = (name: string, ...causes: readonly CauseCode[]) =>
    panelReport({ name, problems: causes.map((cause) => problem(cause)) });
  const having = panelReport({ name: 'having', servers: [serverReport('lobby')] });
  const without = panel('without', 'nothing_listed');
  const down = panel('down', 'timeout');
  const refused = panel('refused', 'listing_refused');
  const stopped: DoctorReport = { ...doctorReport(without), stopped: true };

  it.each<[title: string, report: DoctorReport, shown: readonly string[] | string]>([
    ['is reported with its panel alone', doctorReport(without, having, down), ['having']],
    [
      'may be on a panel that cannot list its servers',
      doctorReport(without, down, refused),
      ['down', 'refused'],
    ],
    [
      'is on none of the panels',
      doctorReport(without, { ...without, name: 'other' }),
      'no server "lobby" in the configuration, or among the account\'s servers (panels: without, other)',
    ],
    [
      'may be on a panel whose list was not read',
      doctorReport(without, { ...without, name: 'paused', isListRead: false }),
      ['paused'],
    ],
    [
      'may be meant by a similar name',
      doctorReport({ ...without, listedNames: ['arena', 'lobbi'] }),
      'no server "lobby" in the configuration, or among the account\'s servers (did you mean "lobbi"? panels: without)',
    ],
    [
      'is reported without servers that ran until the list named them',
      doctorReport({
        ...having,
        servers: [serverReport('lobby'), serverReport('d3aac109', 'not_found')],
        problems: [problem('not_found', { servers: ['d3aac109'] })],
      }),
      ['having'],
    ],
    ['may not have been reached before the doctor was stopped', stopped, ['without']],
  ])('%s', (_title, report, shown) => {
    const found = withServer(report, 'lobby');
    if (typeof found !== 'string')
      expect(found.panels.flatMap(({ servers }) => servers.map(({ name }) => name))).toEqual(
        shown[0] === 'having' ? ['lobby'] : [],
      );
    expect(typeof found === 'string' ? found : found.panels.map(({ name }) => name)).toEqual(shown);
  });
});
