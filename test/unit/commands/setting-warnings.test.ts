import { describe, expect, it } from 'vitest';
import { panelWarnings } from '../../../src/commands/setting-warnings.ts';
import type { PanelConfig } from '../../../src/config/config.ts';
import type { DiscoverRules } from '../../../src/domain/listing-settings.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { discoverRules } from '../../support/discover-rules.ts';
import { target } from '../../support/targets.ts';

const LIMITS = { cpuCores: 2, diskBytes: 1_024 };
const listing = (...expectations: DiscoverRules['expect']) => ({
  intervalMs: 1,
  discover: discoverRules({ expect: expectations }),
});

/** The warnings about a panel with these servers. */
function warnings(servers: readonly Partial<ServerTarget>[], more: object = { listing: { intervalMs: 1 } }) {
  const panel = { servers: servers.map((one) => target(one)), ...more } as unknown as PanelConfig;
  return panelWarnings(panel);
}

const ANY = { expect: 'any' } as const;
const EVERY = { match: {}, state: 'any' } as const;
const SOME = { match: { name: ['a*'] }, state: 'running' } as const;

describe('servers that may all be off', () => {
  it.each<[string, readonly Partial<ServerTarget>[], object | undefined, boolean]>([
    ['as configured', [ANY, ANY], undefined, true],
    ['but for one', [ANY, { expect: 'auto' }], undefined, false],
    ['unless a rule matches', [ANY], { listing: listing() }, false],
    ['unless they are discovered', [], { listing: listing(SOME) }, false],
    ['because a rule matches all', [ANY], { listing: listing(EVERY) }, true],
    ['unless an earlier rule matches', [ANY], { listing: listing(SOME, EVERY) }, false],
    ['because the rule that matches all is first', [ANY], { listing: listing(EVERY, SOME) }, true],
  ])('are warned about: %s', (_what, servers, more, isWarned) => {
    expect(warnings(servers, more).some((text) => text.startsWith('`expect` is `any`'))).toBe(isWarned);
  });
});

describe('rules that are never reached', () => {
  it.each([
    [[SOME, EVERY], undefined],
    [
      [EVERY, SOME],
      'the last rule of `discover.expect` has no effect, because rule 1 matches every server: move that rule to the end',
    ],
    [
      [SOME, { ...EVERY, state: 'auto' }, SOME, EVERY],
      'the last 2 rules of `discover.expect` have no effect, because rule 2 matches every server: move that rule to the end',
    ],
  ] as const)('are warned about: %j', (rules, expected) => {
    const found = warnings([{}], { listing: listing(...rules) });
    const warning = found.find((text) => text.includes('discover.expect'));
    expect(warning).toBe(expected);
  });
});

describe('limits that are unknown', () => {
  it.each<[string, readonly Partial<ServerTarget>[], object, readonly string[]]>([
    ['are none with the server list', [{}], { listing: { intervalMs: 1 } }, []],
    ['are none if they are set', [{ limits: LIMITS }], {}, []],
    [
      'are warned about for each kind',
      [{ name: 'a' }, { name: 'b', limits: { cpuCores: 1 } }],
      {},
      ['CPU limit is set for a,', 'disk limit is set for a, b,'],
    ],
    [
      'of memory are those of polled servers',
      [{ name: 'a', limits: LIMITS, mode: 'poll' }],
      {},
      ['memory limit is set for a,'],
    ],
    [
      'are warned about for a few servers by name',
      Array.from({ length: 7 }, (_, index) => ({ name: `s${index}`, limits: { cpuCores: 1 } })),
      {},
      ['disk limit is set for s0, s1, s2, s3, s4 and 2 more,'],
    ],
  ])('%s', (_what, servers, more, expected) => {
    const found = warnings(servers, more).map(
      (text) => /no (.*? limit is set for .*?,) so alerts/.exec(text)?.[1],
    );
    expect(found.filter((text) => text !== undefined)).toEqual(expected);
  });
});
