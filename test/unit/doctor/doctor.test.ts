import { describe, expect, it } from 'vitest';
import { type DoctorSelection, select, withServer } from '../../../src/doctor/doctor.ts';
import type { DoctorPanel } from '../../../src/doctor/panel-trial.ts';
import { type DoctorReport, failed, type PanelReport } from '../../../src/doctor/report.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { target } from '../../support/targets.ts';
import { doctorReport, panelReport, serverReport } from './reports.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const unused = {} as Pick<DoctorPanel, 'api' | 'queries' | 'sockets' | 'url'>;
const discovered = target({ id: 'eeeeeeee', name: 'lobby' });

const PANELS: readonly DoctorPanel[] = [
  {
    ...unused,
    name: 'main',
    targets: [target({ id: UUID, uuid: UUID }), target({ id: 'd3aac109', name: 'd3aac109' })],
  },
  { ...unused, name: 'other', targets: [target({ id: 'ffffffff' })] },
];
const DISCOVERING: readonly DoctorPanel[] = [
  ...PANELS,
  {
    ...unused,
    name: 'found',
    targets: [],
    listing: { discovers: true, select: () => ({ targets: [discovered, target({ id: 'aaaaaaaa' })] }) },
  },
];

const NO_WALK = { servers: [], surplusEntries: 0 };

const chosen = (selection: DoctorSelection, panels = PANELS) => {
  const selected = select(panels, selection);
  if (typeof selected === 'string') return selected;
  return selected.map(({ name, targets, listing }) => {
    const ids = [name, targets.map(({ id }) => id)];
    return listing === undefined ? ids : ids.concat([listing.select(NO_WALK).targets.map(({ id }) => id)]);
  });
};

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
    [{ panel: 'none' }, 'no panel "none" in the configuration (panels: main, other)'],
    [{ server: 'none' }, 'no server "none" in the configuration (servers: survival, d3aac109, survival)'],
    [{ server: '1a7ce997-0000-0000-0000-000000000000' }, expect.stringMatching(/^no server/)],
  ])('by %j', (selection, expected) => {
    expect(chosen(selection)).toEqual(expected);
  });

  it('searches the server lists if the configuration has no server of that name', () => {
    expect(chosen({ server: 'lobby' }, DISCOVERING)).toEqual([['found', [], ['eeeeeeee']]]);
    expect(chosen({ server: 'd3aac109' }, DISCOVERING)).toEqual([['main', ['d3aac109']]]);
  });

  it('applies to the targets that a server list completes', () => {
    const targets = [target({ id: 'aaaaaaaa', name: 'one' }), target({ id: 'bbbbbbbb', name: 'two' })];
    const listing = { discovers: false, select: () => ({ targets }) };
    const panels = [{ ...unused, name: 'main', targets, listing }];
    expect(chosen({ server: 'two' }, panels)).toEqual([['main', ['bbbbbbbb'], ['bbbbbbbb']]]);
  });
});

describe('a server that was looked up in server lists', () => {
  const finding = (cause: CauseCode) => (steps: PanelReport['steps']) =>
    steps.map((step) => (step.step === 'listing' ? failed('listing', cause, 'said so') : step));
  const panel = (name: string, listing?: CauseCode, servers: PanelReport['servers'] = []): PanelReport => {
    const report = panelReport(servers);
    return { ...report, name, steps: listing === undefined ? report.steps : finding(listing)(report.steps) };
  };
  const having = panel('having', undefined, [serverReport('lobby')]);
  const without = panel('without', 'nothing_listed');
  const down: PanelReport = {
    ...panel('down', 'timeout'),
    problem: { cause: 'timeout', detail: 'no response' },
  };
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
      'no server "lobby" in the configuration, or in what the account may see (panels: without, other)',
    ],
    ['may not have been reached before the doctor was stopped', stopped, ['without']],
  ])('%s', (_title, report, shown) => {
    const found = withServer(report, 'lobby');
    expect(typeof found === 'string' ? found : found.panels.map(({ name }) => name)).toEqual(shown);
  });
});
