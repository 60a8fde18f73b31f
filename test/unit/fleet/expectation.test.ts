import { describe, expect, it } from 'vitest';
import type { BlockedReason, Expect } from '../../../src/domain/server.ts';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { isDeleted, isDown, isExpectedToRun } from '../../../src/fleet/expectation.ts';
import { NOTHING_SEEN, type Power } from '../../../src/fleet/power-model.ts';
import { target } from '../../support/targets.ts';

const NOW = 1_000_000;

interface Facts {
  readonly expect?: Expect;
  readonly isDiscovered?: true;
  readonly listed?: BlockedReason;
  readonly blocked?: BlockedReason;
  readonly power?: Partial<Power>;
}

function server({ expect: expectation = 'auto', isDiscovered, listed, blocked }: Facts) {
  const status: CollectionStatus = { condition: blocked === undefined ? 'streaming' : 'blocked', blocked };
  const described = target({
    expect: expectation,
    ...(isDiscovered && { isDiscovered }),
    ...(listed !== undefined && { blocked: listed }),
  });
  return { target: described, status };
}

const RUNS = { isExpected: true } as const;

describe('a server', () => {
  it.each<[string, Facts, boolean | undefined]>([
    ['of which nothing was seen', {}, undefined],
    ['that ran', { power: RUNS }, true],
    ['that always should', { expect: 'running' }, true],
    ['that may be off', { expect: 'any', power: RUNS }, false],
    ['that exited an hour ago', { power: { ...RUNS, exitedAt: NOW - 3_600_000 } }, false],
    ['that is being installed', { power: RUNS, blocked: 'installing' }, false],
    ['that the list shows as transferring', { power: RUNS, listed: 'transferring' }, false],
    ['that is suspended', { power: RUNS, blocked: 'suspended' }, true],
    [
      'that was discovered and deleted',
      { expect: 'running', isDiscovered: true, blocked: 'not_found' },
      false,
    ],
    ['of the configuration that is not found', { expect: 'running', blocked: 'not_found' }, true],
  ])('%s is expected to run: %o %s', (_, facts, isExpected) => {
    expect(isExpectedToRun(server(facts), { ...NOTHING_SEEN, ...facts.power }, NOW)).toBe(isExpected);
  });

  it.each<[string, Facts, boolean]>([
    ['discovered and not found', { isDiscovered: true, blocked: 'not_found' }, true],
    ['discovered and suspended', { isDiscovered: true, blocked: 'suspended' }, false],
    ['configured and not found', { blocked: 'not_found' }, false],
  ])('that is %s was deleted: %o %s', (_, facts, is) => {
    expect(isDeleted(server(facts))).toBe(is);
  });

  it.each<[string, Facts, boolean]>([
    ['runs', { power: { ...RUNS, state: 'running' } }, false],
    ['is off although it should run', { power: { ...RUNS, state: 'offline' } }, true],
    ['is allowed to be off', { expect: 'any', power: { state: 'offline' } }, false],
    ['is suspended', { power: { ...RUNS, state: 'offline' }, blocked: 'suspended' }, false],
  ])('that %s is down: %o %s', (_, facts, is) => {
    expect(isDown(server(facts), { ...NOTHING_SEEN, ...facts.power }, NOW)).toBe(is);
  });
});
