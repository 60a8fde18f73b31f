import * as fc from 'fast-check';
import { it } from 'vitest';
import type { Fault } from '../../../bench/fairness/scripted-panel.ts';
import { anyStory, expectTruth, type Story } from '../../support/fault-story.ts';

// The same stories in every run; FAULT_RUNS=1000 plays as many new ones.
const wanted = process.env['FAULT_RUNS'];
const runs = wanted === undefined ? { numRuns: 20, seed: 25 } : { numRuns: Number(wanted) };

/** What failed once, with the other faults of the story. */
const story = (
  limit: number,
  seed: number,
  faults: readonly (readonly [
    effect: Fault['effect'],
    from: number,
    to: number,
    on?: Fault['on'],
    node?: string,
  ])[],
  reload?: Story['reload'],
): Story => ({
  faults: faults.map(([effect, fromMinute, toMinute, on, node]) => ({
    effect,
    fromMinute,
    toMinute,
    on,
    node,
  })),
  reload,
  limit,
  seed,
});

it.each<[string, Story]>([
  [
    'a path that is rarely used, and one whose single failures mean nothing',
    story(120, 16, [['flaky', 2, 5, 'backups']]),
  ],
  [
    'polls of a node while a proxy fails',
    story(60, 753_916, [
      ['flaky', 0, 4],
      ['unreachable', 1, 4, 'resources', 'n2'],
    ]),
  ],
  [
    'a panel that is missing for less than two rounds of canaries',
    story(60, 574_842, [
      ['missing', 1, 2],
      ['cut', 1, 5, 'backups'],
    ]),
  ],
  [
    'polls of a node while its servers have no sockets for another reason',
    story(240, 419_923, [
      ['down', 0, 4, 'websocket'],
      ['unreachable', 4, 5, 'resources', 'n0'],
      ['error', 4, 8, 'resources', 'n1'],
    ]),
  ],
  [
    'the panel’s errors for a node’s tokens',
    story(60, 715_603, [
      ['revoked', 0, 3],
      ['error', 3, 6, 'websocket', 'n0'],
    ]),
  ],
  [
    'a node that refuses sockets while the panel is missing',
    story(60, 393_040, [
      ['missing', 4, 9],
      ['refused', 4, 9, 'socket', 'n2'],
    ]),
  ],
  [
    'the end of one server’s pause, which is not that of the path',
    story(240, 797_434, [
      ['mismatch', 2.25, 4, 'socket', 'n2'],
      ['missing', 0.25, 1.5, 'websocket', 'n1'],
      ['console limit', 1, 4.5, 'websocket'],
    ]),
  ],
  [
    'a server that is chosen to try its node while its own socket ends',
    story(60, 999_987, [
      ['hang', 3.75, 5.25, 'socket', 'n0'],
      ['garbage', 2.5, 4.25, 'socket', 'n2'],
      ['page', 5, 6.75, 'listing'],
    ]),
  ],
  [
    'tokens after a pause, which are no trials',
    story(
      120,
      77_226,
      [
        ['console limit', 3.75, 5.75, 'websocket'],
        ['console limit', 0, 3.25, 'websocket'],
      ],
      { minute: 3.01, of: 'key' },
    ),
  ],
  [
    'renewals that a path refused, whose tokens end long after that',
    story(
      60,
      230_921,
      [
        ['flaky', 4.25, 6.25, 'backups'],
        ['missing', 2.25, 4, 'websocket'],
      ],
      { minute: 1.51, of: 'access' },
    ),
  ],
  [
    'renewals that are refused until the path is limited, at the same time as a node',
    story(
      60,
      477_329,
      [
        ['missing', 4.25, 6.25, 'websocket'],
        ['throttled', 4.75, 6.25, 'websocket'],
        ['mismatch', 0.75, 4.75, 'socket', 'n1'],
      ],
      { minute: 7.51, of: 'key' },
    ),
  ],
  [
    'polls that wait for the next minute, and there for others, while sockets are refused after an outage',
    story(
      120,
      220_328,
      [
        ['page', 1.75, 2.5, 'backups'],
        ['console limit', 3.5, 6, 'websocket'],
        ['hang', 0, 3.25],
      ],
      { minute: 6.51, of: 'access' },
    ),
  ],
  [
    'a reload while the rate doesn’t carry the polls that everything needs',
    story(
      60,
      0,
      [
        ['console limit', 0, 4, 'websocket'],
        ['page', 2, 5.75],
        ['console limit', 5, 8.25, 'websocket'],
      ],
      { minute: 6.76, of: 'access' },
    ),
  ],
  [
    'two nodes whose tokens fail, while those that failed may not be asked again at once',
    story(
      60,
      157_890,
      [
        ['error', 2.25, 4.5, 'websocket', 'n2'],
        ['garbage', 4.25, 6, 'socket', 'n2'],
        ['error', 2.5, 5.75, 'websocket', 'n0'],
      ],
      { minute: 2.01, of: 'key' },
    ),
  ],
  [
    'a console that is refused just after its last sample, whose first poll could be an older response',
    story(
      120,
      539_009,
      [
        ['missing', 2.75, 6.75, 'websocket', 'n0'],
        ['mismatch', 3, 3.25, 'socket', 'n1'],
        ['mismatch', 4, 5, 'socket', 'n0'],
      ],
      { minute: 1.26, of: 'access' },
    ),
  ],
  [
    'sockets that open without stats after a reload, while the data of polls gets older',
    story(
      240,
      821_395,
      [
        ['console limit', 0.75, 2.25, 'websocket'],
        ['mute', 3.25, 5.25, 'socket', 'n2'],
      ],
      { minute: 4.26, of: 'access' },
    ),
  ],
  [
    'a socket that streams again while the panel is down',
    story(60, 650_940, [
      ['missing', 1.25, 5],
      ['garbage', 1.5, 2.5, 'socket', 'n1'],
    ]),
  ],
  [
    'tokens that wait until polls leave room for them',
    story(
      60,
      932_838,
      [
        ['console limit', 0, 3.75, 'websocket'],
        ['clock', 2.75, 3.75, 'socket', 'n0'],
        ['revoked', 1.25, 2.5],
      ],
      { minute: 4.51, of: 'key' },
    ),
  ],
  [
    'servers that never had data and begin again with a reload',
    story(
      120,
      308_386,
      [
        ['console limit', 0, 2.25, 'websocket'],
        ['console limit', 4, 6.5, 'websocket'],
        ['missing', 0.25, 0.5, 'resources', 'n1'],
      ],
      { minute: 1.01, of: 'access' },
    ),
  ],
  [
    'a server whose token was refused before the server list was first read',
    story(
      240,
      422_852,
      [
        ['missing', 0, 2.5, 'websocket', 'n2'],
        ['hang', 1.75, 2.5, 'resources', 'n1'],
        ['cut', 0, 0.5, 'listing'],
      ],
      { minute: 1.51, of: 'key' },
    ),
  ],
  [
    'backups and schedules that are first read while a node hangs',
    story(120, 809_222, [
      ['missing', 0, 2],
      ['hang', 1.25, 2.75, 'socket', 'n2'],
    ]),
  ],
  [
    'a node whose socket streams while neither tokens nor polls work',
    story(
      240,
      999_995,
      [
        ['mute', 3, 3.75, 'socket', 'n2'],
        ['hang', 3.75, 5.25, 'resources'],
        ['error', 3.5, 4],
      ],
      { minute: 6.76, of: 'access' },
    ),
  ],
  [
    'sockets that stream through a reload, while the panel gives their node no tokens',
    story(
      60,
      561_957,
      [
        ['limited', 3, 6.75, 'listing'],
        ['error', 4.5, 8, 'websocket', 'n1'],
        ['page', 0.25, 4.25],
      ],
      { minute: 7.01, of: 'access' },
    ),
  ],
  [
    'a key that the panel no longer accepts, which denies consoles as well',
    story(
      60,
      549_481,
      [
        ['error', 3.25, 5, 'websocket'],
        ['console limit', 0, 3, 'websocket'],
        ['revoked', 0.5, 2.5],
      ],
      { minute: 1.01, of: 'key' },
    ),
  ],
])('%s', async (_what, one) => {
  await expectTruth(one);
});

it('any two or three faults leave fresh what works, are blamed only on what fails, and are over 75 s after their ends', async () => {
  await fc.assert(fc.asyncProperty(anyStory, expectTruth), runs);
});
