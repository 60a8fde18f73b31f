import { describe, expect, it } from 'vitest';
import { Canceled, STOPPED } from '../../../src/doctor/canceled.ts';
import { endsServer, type ServerAttempts, serverOutcome } from '../../../src/doctor/server-steps.ts';
import type { TrialResult } from '../../../src/doctor/trial.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';

const problem = (cause: CauseCode) => ({ cause, detail: `because of ${cause}` });

const CREDENTIALS = { token: 'token', socketUrl: 'wss://node.example.com/ws', lifetimeMs: 600_000 };

const STREAMED: TrialResult = {
  step: 'stats',
  problem: undefined,
  isAnswered: true,
  credentials: CREDENTIALS,
  state: 'running',
};
const POLLED: TrialResult = { ...STREAMED, step: 'resources', credentials: undefined };
const TRIED: ServerAttempts = {
  mode: 'auto',
  expect: 'running',
  origin: 'https://panel.example.com',
  poll: POLLED,
  socket: STREAMED,
};

const LETTERS = { ok: 'o', failed: 'f', skipped: '-', warning: 'w' };
const shown = (tried: ServerAttempts) =>
  serverOutcome(tried)
    .steps.map(({ result }) => LETTERS[result])
    .join('');

describe('the steps of a server', () => {
  it('describe what worked', () => {
    expect(serverOutcome(TRIED).steps.map(({ detail }) => detail)).toEqual([
      'the panel has this server',
      'token valid for 10 min',
      'node.example.com accepted Origin https://panel.example.com',
      'the node accepted the token',
      'running',
      'running',
    ]);
  });

  it.each<readonly [string, string, Partial<ServerAttempts>]>([
    ['everything works', 'oooooo', {}],
    [
      'there is no token',
      'of---o',
      { socket: { ...STREAMED, step: 'credentials', problem: problem('panel_error'), isAnswered: false } },
    ],
    ['the upgrade fails', 'oof--o', { socket: { ...STREAMED, step: 'upgrade', problem: problem('origin') } }],
    ['the token fails', 'ooof-o', { socket: { ...STREAMED, step: 'auth', problem: problem('closed') } }],
    ['there are no stats', 'oooofo', { socket: { ...STREAMED, problem: problem('no_stats') } }],
    ['it is stopped', 'oo---o', { socket: { ...STREAMED, step: 'upgrade', problem: new Canceled(STOPPED) } }],
    [
      'the time is up',
      'ooof-o',
      { socket: { ...STREAMED, step: 'auth', problem: new Canceled('late', 'deadline') } },
    ],
    [
      'the panel has no data',
      'ooooof',
      { poll: { ...POLLED, problem: problem('node_unreachable'), state: undefined } },
    ],
    [
      'no call has a response',
      '-f---f',
      {
        poll: { ...POLLED, problem: problem('panel_error'), isAnswered: false },
        socket: { ...STREAMED, step: 'credentials', problem: problem('panel_error'), isAnswered: false },
      },
    ],
    [
      'the panel has no such server',
      'f-----',
      { poll: { ...POLLED, problem: problem('not_found'), isAnswered: false } },
    ],
  ])('%s: %s', (_what, steps, tried) => {
    expect(shown({ ...TRIED, ...tried })).toBe(steps);
  });
});

describe('a server', () => {
  it.each<readonly [string, boolean, Partial<TrialResult>]>([
    ['answered', false, {}],
    ['responded, and the response is that it is suspended', false, { problem: problem('suspended') }],
    ['refused for all calls', true, { problem: problem('suspended'), isAnswered: false }],
    ['refused for this call', false, { problem: problem('forbidden'), isAnswered: false }],
    ['canceled', true, { problem: new Canceled(STOPPED), isAnswered: false }],
  ])('whose poll was %s needs no other calls: %s', (_what, ends, polled) => {
    expect(endsServer({ ...POLLED, ...polled })).toBe(ends);
  });
});
