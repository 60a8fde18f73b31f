import { describe, expect, it } from 'vitest';
import { blockedReason, CAUSES } from '../../../src/diagnosis/causes.ts';
import { CAUSES_BY_SCOPE, type CauseCode } from '../../../src/domain/problem.ts';
import { BLOCKED_REASONS } from '../../../src/domain/server.ts';

const ALL = Object.values(CAUSES);

describe('every cause', () => {
  it('has a unique code in exactly one scope', () => {
    const codes = Object.values(CAUSES_BY_SCOPE).flat();
    expect(new Set(codes).size).toBe(codes.length);
    expect(Object.keys(CAUSES)).toEqual(codes);
  });
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
