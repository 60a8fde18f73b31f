import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { type LastingRefusal, lastingRefusal } from '../../../src/session/lasting-refusal.ts';

const problem = (cause: CauseCode) => ({ cause, detail: 'the panel says no' });

describe('a lasting refusal', () => {
  it.each<[CauseCode, LastingRefusal | undefined]>([
    ['connection', undefined],
    ['unauthorized', { reason: 'unauthorized', pollable: true }],
    ['forbidden', { reason: 'forbidden', pollable: true }],
    ['no_console_permission', { reason: 'forbidden', pollable: true }],
    ['not_found', { reason: 'not_found', pollable: true }],
    ['suspended', { reason: 'suspended', pollable: false }],
    ['maintenance', { reason: 'maintenance', pollable: false }],
    // A problem of the key doesn't block a server.
    ['key_refused', { reason: undefined, pollable: true }],
    ['socket_address_insecure', { reason: undefined, pollable: true }],
  ])('is recognized: %s', (cause, refusal) => {
    expect(lastingRefusal(problem(cause))).toEqual(refusal);
  });
});
