import { expect, it } from 'vitest';
import type { Stop } from '../../../src/fleet/power-model.ts';
import { logStop } from '../../../src/fleet/stop-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { target } from '../../support/targets.ts';

const STOP: Stop = {
  at: 0,
  reason: 'unknown',
  exitCode: undefined,
  run: 1,
  seen: 'happening',
  notices: [],
  noticedAt: 0,
};

function linesOf(stop: Partial<Stop>) {
  const log = collectingLogger();
  logStop(log, { target: target({ name: 'creative' }), node: 'n1' }, { ...STOP, ...stop });
  return log.lines;
}

it.each<[what: string, stop: Partial<Stop>, event: string, message: string]>([
  [
    'a crash',
    { reason: 'crashed', exitCode: 1 },
    'crashed',
    'crashed (exit code 1); the node is restarting it',
  ],
  ['a crash without a code', { reason: 'crashed' }, 'crashed', 'crashed; the node is restarting it'],
  [
    'a lack of memory',
    { reason: 'out_of_memory', exitCode: 137 },
    'out_of_memory',
    'crashed (exit code 137, out of memory); the node is restarting it',
  ],
  [
    'a crash after which the node gives up',
    { reason: 'crashed', exitCode: 1, notices: ['restart aborted'] },
    'gave_up',
    'crashed (exit code 1); the node gave up restarting it',
  ],
  [
    'an exit after which the node gives up',
    { reason: 'exited', exitCode: 0, notices: ['restart aborted'] },
    'gave_up',
    'stopped by itself (exit code 0); the node gave up restarting it',
  ],
  [
    'a stop on a node without crash detection',
    { notices: ['restart disabled'] },
    'gave_up',
    'stopped by itself; crash detection is disabled, so the node does not restart it',
  ],
  [
    'a full disk, whatever the node does then',
    { reason: 'disk_full', notices: ['restart aborted'] },
    'disk_full',
    'was stopped by its node: disk limit exceeded',
  ],
])('%s is logged in one line', (_what, stop, event, message) => {
  expect(linesOf(stop)).toMatchObject([
    { level: 'warn', fields: { event, node: 'n1' }, message: `server creative ${message}` },
  ]);
});

it.each<Partial<Stop>>([{ reason: 'requested' }, { reason: 'exited', exitCode: 0 }, {}])(
  'a stop that is no problem is not logged: %j',
  (stop) => {
    expect(linesOf(stop)).toEqual([]);
  },
);
