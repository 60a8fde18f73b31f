import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { blockedReason, CAUSES } from '../../../src/diagnosis/causes.ts';
import { EXPORTER_CAUSES } from '../../../src/diagnosis/exporter-causes.ts';
import { KEY_CAUSES } from '../../../src/diagnosis/key-causes.ts';
import { NODE_CAUSES } from '../../../src/diagnosis/node-causes.ts';
import { PANEL_CAUSES } from '../../../src/diagnosis/panel-causes.ts';
import { SERVER_CAUSES } from '../../../src/diagnosis/server-causes.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { BLOCKED_REASONS } from '../../../src/domain/server.ts';
import { PLAYED_CAUSES } from '../../faults/rows/all.ts';

const ALL = Object.values(CAUSES);

/** The sentences of all causes, without the shortest ones, which fit any cause. */
const SENTENCES = ALL.flatMap(({ meaning, remedy }) => `${meaning} ${remedy}`.split(/(?<=\.) /)).filter(
  ({ length }) => length > 25,
);

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

it('what a cause means, and what to do, is in its table alone: tests refer to it', () => {
  const tests = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.test\.tsx?$/.test(file),
  );
  const repeated = tests.flatMap((file) => {
    const text = readFileSync(`test/${file}`, 'utf8').replaceAll("\\'", "'");
    return SENTENCES.filter((sentence) => text.includes(sentence)).map((sentence) => `${file}: ${sentence}`);
  });
  expect(repeated).toEqual([]);
});
