import { beforeEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { CauseCode, Problem } from '../../../src/domain/problems.ts';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { sessionLog } from '../../../src/fleet/session-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { target } from '../../support/targets.ts';

const RECORD = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
const SOCKET: Problem = { cause: 'node_connection', detail: 'no connection' };
const NO_SERVER: Problem = { cause: 'not_found', detail: 'no such server' };
const KEY: Problem = { cause: 'key_refused', detail: 'Unauthenticated.' };

let log: ReturnType<typeof collectingLogger>;

beforeEach(() => {
  log = collectingLogger();
});

describe('the log line of a condition', () => {
  const logged = (now: CollectionStatus, before: CollectionStatus = { condition: 'waiting' }) => {
    sessionLog(log).conditionChanged(RECORD, { before, now, hasStreamed: false });
    return log.lines.map(({ level, message }) => `${level}: ${message}`);
  };
  const failingWith = (cause: CauseCode) =>
    logged({ condition: 'failing', problem: { cause, detail: 'why' } });

  it.each(Object.values(CAUSES))(
    'for failures with $code is a warning, unless the cause is a fact, temporary, or logged for the panel',
    ({ code, scope, severity }) => {
      const isPassing = severity === 'fact' || code === 'closed';
      const level = scope === 'panel' || scope === 'key' ? 'debug' : isPassing ? 'info' : 'warn';
      expect(failingWith(code)).toEqual([expect.stringMatching(new RegExp(`^${level}: `))]);
    },
  );

  it.each<[string, CollectionStatus, string]>([
    ['is streaming', { condition: 'streaming' }, 'info: server survival is streaming'],
    [
      'is streaming with a problem',
      { condition: 'streaming', problem: SOCKET },
      'info: server survival is streaming',
    ],
    ['is polled', { condition: 'polling', problem: SOCKET }, 'info: server survival is polled'],
    ['is waiting', { condition: 'waiting' }, 'debug: server survival is waiting'],
    ['is connecting', { condition: 'connecting', problem: SOCKET }, 'debug: server survival is connecting'],
    ['is stopped', { condition: 'stopped' }, 'debug: server survival is stopped'],
    [
      'fails',
      { condition: 'failing', problem: SOCKET },
      `warn: server survival can't be monitored: no connection. ${CAUSES.node_connection.remedy}`,
    ],
    [
      'is blocked',
      { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER },
      `warn: server survival is blocked (not_found): no such server. ${CAUSES.not_found.remedy}`,
    ],
    [
      'is suspended',
      {
        condition: 'blocked',
        blocked: 'suspended',
        problem: { cause: 'suspended', detail: 'This server is suspended.' },
      },
      `info: server survival is blocked: This server is suspended. ${CAUSES.suspended.remedy}`,
    ],
    [
      'fails because of the key',
      { condition: 'failing', problem: KEY },
      `debug: server survival can't be monitored: Unauthenticated. ${CAUSES.key_refused.remedy}`,
    ],
  ])('of a server that %s', (_, status, line) => {
    expect(logged(status)).toEqual([line]);
  });

  it.each<[string, Problem, level: string]>([
    ['the same cause: no second warning', NO_SERVER, 'debug'],
    ['another cause', SOCKET, 'warn'],
  ])('of a server that is blocked after it failed with %s', (_, problem, level) => {
    const before: CollectionStatus = { condition: 'failing', problem };
    const blocked: CollectionStatus = { condition: 'blocked', blocked: 'not_found', problem: NO_SERVER };
    expect(logged(blocked, before)).toEqual([expect.stringMatching(new RegExp(`^${level}: `))]);
  });

  it('has the cause and its detail as fields', () => {
    const now = { condition: 'failing', problem: SOCKET } as const;
    sessionLog(log).conditionChanged(RECORD, { before: { condition: 'waiting' }, now, hasStreamed: false });
    expect(log.lines[0]?.fields).toMatchObject({
      condition: 'failing',
      cause: 'node_connection',
      detail: 'no connection',
    });
  });
});
