import { describe, expect, it, test } from 'vitest';
import { blockedReason, CAUSES } from '../../../src/diagnosis/causes.ts';
import { NODE_CAUSES } from '../../../src/diagnosis/node-causes.ts';
import { KEY_CAUSES, PANEL_CAUSES } from '../../../src/diagnosis/panel-causes.ts';
import { EXPORTER_CAUSES, SERVER_CAUSES } from '../../../src/diagnosis/server-causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { BLOCKED_REASONS } from '../../../src/domain/server.ts';
import { PLAYED_CAUSES } from '../../faults/rows/all.ts';

const ALL = Object.values(CAUSES);

test('a code is in one scope only', () => {
  const tables = [SERVER_CAUSES, NODE_CAUSES, PANEL_CAUSES, KEY_CAUSES, EXPORTER_CAUSES];
  expect(tables.flatMap(Object.keys)).toEqual(ALL.map(({ code }) => code));
});

describe('a server', () => {
  it.each<[CauseCode, string | undefined]>([
    ['suspended', 'suspended'],
    ['maintenance', 'maintenance'],
    ['not_found', 'not_found'],
    ['unauthorized', 'unauthorized'],
    ['forbidden', 'forbidden'],
    ['no_console_permission', 'forbidden'],
    ['closed_for_good', 'forbidden'],
    ['token_wrong_server', 'forbidden'],
    ['console_limit', undefined],
    ['challenge_page', undefined],
    ['key_address', undefined],
    ['key_console_permission', undefined],
    ['origin', 'forbidden'],
    ['node_token_mismatch', 'forbidden'],
  ])('blocked by %s has the reason %s', (cause, reason) => {
    expect(blockedReason(cause)).toBe(reason);
  });

  it('is only blocked for reasons that the metric has', () => {
    const reasons = ALL.map(({ code }) => blockedReason(code)).filter((reason) => reason !== undefined);
    expect(BLOCKED_REASONS).toEqual(expect.arrayContaining(reasons));
  });
});

it.each(Object.keys(CAUSES) as CauseCode[])('%s is simulated by a row of faults', (code) => {
  expect([...PLAYED_CAUSES]).toContain(code);
});
