import { describe, expect, it } from 'vitest';
import { type DoctorSelection, select } from '../../../src/doctor/doctor.ts';
import type { DoctorPanel } from '../../../src/doctor/panel-trial.ts';
import { target } from '../../support/targets.ts';

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

  it('searches the listings if the configuration has no server of that name', () => {
    expect(chosen({ server: 'lobby' }, DISCOVERING)).toEqual([['found', [], ['eeeeeeee']]]);
    expect(chosen({ server: 'd3aac109' }, DISCOVERING)).toEqual([['main', ['d3aac109']]]);
  });

  it('applies to the targets that a listing completes', () => {
    const targets = [target({ id: 'aaaaaaaa', name: 'one' }), target({ id: 'bbbbbbbb', name: 'two' })];
    const listing = { discovers: false, select: () => ({ targets }) };
    const panels = [{ ...unused, name: 'main', targets, listing }];
    expect(chosen({ server: 'two' }, panels)).toEqual([['main', ['bbbbbbbb'], ['bbbbbbbb']]]);
  });
});
