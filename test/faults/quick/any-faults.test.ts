// Combinations of faults in virtual time, with and without random ones.
import { randomInt } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Effect, Fault } from '../../../bench/fairness/scripted-panel.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { LONGEST_TEST_MS } from '../../support/eventually.ts';
import { anyStory, expectTruth, type Story } from '../../support/fault-story.ts';

// By default, every run plays the same random stories. FAULT_RUNS=1000 plays as many new ones, and
// prints the FAULT_SEED that repeats them.
const { FAULT_RUNS, FAULT_SEED = randomInt(2 ** 31) } = process.env;
const SEED = 25;
const runs =
  FAULT_RUNS === undefined
    ? { numRuns: 20, seed: SEED }
    : { numRuns: Number(FAULT_RUNS), seed: Number(FAULT_SEED) };
if (FAULT_RUNS !== undefined) process.stderr.write(`FAULT_SEED=${runs.seed}\n`);

/** The time limit of one story. Generous: an idle core plays six stories per second. */
const MS_PER_STORY = 10_000;

/** The timeout. To shrink a failure takes about as many stories again. */
const TIMEOUT_MS = Math.max(LONGEST_TEST_MS, 2 * runs.numRuns * MS_PER_STORY);

/** Single faults: the subjects with a problem, named as in `watchWorld`, and their cause. */
const ALONE: readonly (readonly [
  effect: Effect,
  on: Fault['on'],
  node: string | undefined,
  blamed: string,
  cause: CauseCode,
])[] = [
  ['cut', undefined, undefined, 'panel', 'connection_cut'],
  ['hang', undefined, undefined, 'panel', 'timeout'],
  ['down', undefined, undefined, 'panel', 'panel_down'],
  ['page', undefined, undefined, 'panel', 'login_page'],
  ['error', undefined, undefined, 'panel', 'panel_error'],
  ['missing', undefined, undefined, 'panel', 'not_a_panel'],
  ['revoked', undefined, undefined, 'panel', 'key_refused'],
  ['cut', 'websocket', undefined, 'path websocket', 'connection_cut'],
  ['hang', 'websocket', undefined, 'path websocket', 'timeout'],
  ['down', 'websocket', undefined, 'path websocket', 'panel_down'],
  ['error', 'websocket', undefined, 'path websocket', 'panel_error'],
  ['throttled', 'websocket', undefined, 'rate_limited', 'rate_limited'],
  ['cut', 'backups', undefined, 'path backups', 'connection_cut'],
  ['hang', 'backups', undefined, 'path backups', 'timeout'],
  ['down', 'schedules', undefined, 'path schedules', 'panel_down'],
  ['throttled', 'backups', undefined, 'rate_limited', 'rate_limited'],
  ['unreachable', 'resources', 'n2', 'node n2', 'node_unreachable'],
  ['refused', 'socket', 'n1', 'node n1', 'node_connection'],
  ['origin', 'socket', 'n1', 'node n1', 'origin'],
  ['mismatch', 'socket', 'n1', 'node n1', 'node_token_mismatch'],
  ['clock', 'socket', 'n1', 'node n1', 'token_clock'],
  ['certificate', 'socket', 'n1', 'node n1', 'node_tls_unknown_ca'],
  ['hang', 'socket', 'n1', 'node n1', 'node_timeout'],
  ['mute', 'socket', 'n1', 'node n1', 'node_error'],
  ['garbage', 'socket', 'n1', 'node n1', 'node_error'],
  ['closing', 'socket', 'n1', 'node n1', 'closed'],
];

it.each(ALONE)(
  '%s (%s of %s) is a problem of nothing but: %s, %s',
  async (effect, on, node, blamed, cause) => {
    // Backups and schedules are read at the start, and then rarely.
    for (const fromMinute of on === 'backups' || on === 'schedules' ? [0] : [0, 2]) {
      const toMinute = fromMinute + 4;
      const seen = await expectTruth({
        faults: [{ effect, on, node, fromMinute, toMinute }],
        reload: undefined,
        limit: 240,
        seed: SEED,
      });
      expect([...seen.blamed]).toEqual([blamed]);
      const { up, causes, nodes } = seen.at(toMinute * 60 - 1);
      const [, name] = blamed.split('node ');
      expect({ up, causes, nodes }).toEqual({
        up: blamed !== 'panel',
        causes: name === undefined ? [cause] : [],
        nodes: name === undefined ? {} : { [name]: cause },
      });
    }
  },
);

/** A story that failed once, with all of its faults. */
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
    'the polls of one node, which all fail, while the panel is missing for the others',
    story(60, 0, [
      ['error', 3.25, 7, 'resources'],
      ['missing', 3.75, 4],
    ]),
  ],
  [
    'a panel that doesn’t know one node’s servers, while its list and its polls fail',
    story(
      60,
      851_409,
      [
        ['missing', 2.75, 6.5, 'websocket', 'n2'],
        ['hang', 4.5, 6.5, 'listing'],
        ['down', 3.5, 6.5, 'resources'],
      ],
      { minute: 6.76, of: 'access' },
    ),
  ],
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
    'a node whose trial needs another token, beside servers without theirs',
    story(60, 549_098, [
      ['mismatch', 4, 6.5, 'socket', 'n2'],
      ['missing', 3.25, 7.25, 'websocket', 'n1'],
    ]),
  ],
  [
    'a server whose two tokens a minute were used before a reload',
    story(
      120,
      532_902,
      [
        ['clock', 3.5, 3.75, 'socket', 'n1'],
        ['error', 0, 0.25, 'resources', 'n0'],
      ],
      { minute: 3.51, of: 'access' },
    ),
  ],
  [
    'a path after a cut, although one node fails there all the time and another did before',
    story(60, 137_977, [
      ['error', 0, 3.25, 'resources', 'n1'],
      ['error', 0.75, 1.25, 'resources', 'n2'],
      ['cut', 1.25, 1.75],
    ]),
  ],
  [
    'the end of a panel’s outage while calls for tokens pause the account',
    story(
      120,
      869_056,
      [
        ['limited', 5, 9, 'websocket'],
        ['missing', 5, 7.25],
      ],
      { minute: 7.76, of: 'access' },
    ),
  ],
  [
    'polls once the account’s limit is over, although each server’s own limit refuses its token',
    story(
      240,
      36_887,
      [
        ['console limit', 4, 6.75, 'websocket'],
        ['moved', 5, 5.25, 'socket', 'n2'],
        ['limited', 0, 3.25, 'websocket'],
      ],
      { minute: 7.01, of: 'key' },
    ),
  ],
  [
    'a path after a start in which the panel was missing and all tokens that didn’t fail were limited',
    story(
      240,
      13,
      [
        ['error', 0, 3.75, 'websocket', 'n1'],
        ['missing', 0, 1],
        ['console limit', 0.5, 1.5, 'websocket'],
      ],
      { minute: 6.76, of: 'key' },
    ),
  ],
  [
    'a path that fails at the start, before the list is read, and leaves calls for polls',
    story(60, 0, [
      ['cut', 0, 0.25, 'websocket'],
      ['cut', 0, 0.25, 'listing'],
    ]),
  ],
  [
    'tokens that were refused with 404 while polls worked: one that is issued again wakes the others',
    story(120, 0, [['missing', 0, 0.25, 'websocket']]),
  ],
  [
    'tokens that were refused with 404 to the key before, while polls worked',
    story(
      120,
      0,
      [
        ['missing', 0, 0.25, 'websocket'],
        ['cut', 0.25, 0.5],
      ],
      { minute: 0.26, of: 'key' },
    ),
  ],
  [
    'a path by which one node alone is polled, and failed a streaming server of that node before',
    story(
      60,
      558_989,
      [
        ['error', 4.5, 5.75, 'resources'],
        ['error', 2, 2.5],
        ['missing', 0.75, 4.5, 'resources', 'n0'],
      ],
      { minute: 7.76, of: 'key' },
    ),
  ],
  [
    'a node’s polls while the panel fails and another node’s last calls, which started before, end',
    story(120, 0, [
      ['error', 5, 5.5],
      ['refused', 1.5, 4.75, 'socket', 'n1'],
      ['unreachable', 4.25, 5, 'resources', 'n1'],
    ]),
  ],
  [
    'consoles while the panel refuses the key, and the lists of backups in the same way',
    story(
      120,
      0,
      [
        ['missing', 0, 0.25, 'websocket'],
        ['revoked', 0.75, 1.25],
      ],
      { minute: 1.01, of: 'key' },
    ),
  ],
  [
    'polls at a start in which calls for tokens and the list fail in several ways',
    story(60, 0, [
      ['missing', 0, 0.25, 'websocket', 'n0'],
      ['cut', 0, 0.25, 'websocket'],
      ['cut', 0, 0.25, 'listing'],
    ]),
  ],
  [
    'a node with another address, while the list can’t be read',
    story(60, 0, [
      ['cut', 0, 2.25, 'listing'],
      ['moved', 0.25, 2.75, 'socket', 'n0'],
    ]),
  ],
  [
    'polls at the start, while calls for tokens hang, and a canary is one of them',
    story(60, 0, [
      ['hang', 0, 0.25, 'websocket'],
      ['cut', 0, 0.25, 'listing'],
    ]),
  ],
  [
    'a node whose sockets fail at its new address, too',
    story(240, 0, [
      ['garbage', 2.5, 4, 'socket', 'n0'],
      ['moved', 0, 0.25, 'socket', 'n0'],
    ]),
  ],
  [
    'polls after a reload, while the panel’s limits for servers still pause their tokens',
    story(
      240,
      279_453,
      [
        ['console limit', 1.5, 5.25, 'websocket'],
        ['console limit', 0, 3.25, 'websocket'],
      ],
      { minute: 5.26, of: 'access' },
    ),
  ],
  [
    'polls after a reload before a server has data, beside tokens that their own limits delay',
    story(120, 0, [['console limit', 0, 1.75, 'websocket']], { minute: 0.51, of: 'access' }),
  ],
  [
    'a path after its end, although the node whose turn it is to try it fails there by itself',
    story(240, 0, [
      ['hang', 0.5, 3.25, 'socket', 'n1'],
      ['cut', 0.75, 4.75, 'resources'],
      ['error', 2.25, 6.25, 'resources', 'n1'],
    ]),
  ],
  [
    'a panel after its outage, while calls of two kinds pause the account one after the other',
    story(240, 0, [
      ['cut', 0.75, 2],
      ['limited', 1, 2.75, 'resources'],
      ['limited', 0.25, 2.5, 'websocket'],
    ]),
  ],
  [
    'polls that were refused with 404 to all, while the list can’t be read: one that works wakes the others',
    story(120, 0, [
      ['missing', 0, 1, 'resources'],
      ['cut', 0, 2.25, 'listing'],
    ]),
  ],
  [
    'sockets after a path’s end, although polls of the whole fleet take nearly all calls',
    story(
      60,
      0,
      [
        ['hang', 0, 2.25, 'websocket'],
        ['error', 0, 0.25, 'websocket', 'n0'],
        ['error', 2.25, 4, 'resources', 'n0'],
      ],
      { minute: 0.51, of: 'access' },
    ),
  ],
  [
    'sockets after each server’s own limit is over: the last one that waits for its call is no backlog',
    story(
      60,
      0,
      [
        ['console limit', 0, 1.5, 'websocket'],
        ['error', 0, 0.25, 'websocket', 'n0'],
      ],
      { minute: 1.51, of: 'key' },
    ),
  ],
])('%s', async (_what, one) => {
  await expectTruth(one);
});

it('any two or three faults leave fresh what works, are blamed only on what fails, and are over 75 s after their ends', {
  timeout: TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(anyStory, async (one) => void (await expectTruth(one))),
    runs,
  );
});
