import type { ServerState } from '../../../src/domain/power-states.ts';
import { powerAfter } from '../../../src/fleet/power.ts';
import type { Observation, Power } from '../../../src/fleet/power-model.ts';
import type { DaemonNotice } from '../../../src/panel/socket-codec.ts';

export const AT = 1_000_000;
export const LATER = 3_600_000;

/**
 * The daemon's messages, by short names for tests. All other events are states, or a gap in the
 * socket.
 */
export const NOTICES: Readonly<Record<string, DaemonNotice>> = {
  detected: { kind: 'crash detected' },
  aborted: { kind: 'restart aborted' },
  disabled: { kind: 'restart disabled' },
  disk: { kind: 'disk full' },
  code0: { kind: 'exit code', code: 0 },
  code1: { kind: 'exit code', code: 1 },
  code137: { kind: 'exit code', code: 137 },
  killed: { kind: 'out of memory', killed: true },
  notKilled: { kind: 'out of memory', killed: false },
};

/** An event with its time in milliseconds: `0 offline` or `10 code1`. */
export function seen(text: string): Observation {
  const [ms, what = ''] = text.split(' ');
  const at = AT + Number(ms);
  const notice = NOTICES[what];
  if (notice !== undefined) return { seen: 'notice', at, notice };
  return what === 'gap'
    ? { seen: 'gap' }
    : { seen: 'state', source: 'status', at, state: what as ServerState };
}

/**
 * The power state of a server that was already running, after these events and this many
 * milliseconds.
 */
export function after(events: string, untilMs = LATER): Power {
  const all = ['-100000 running', ...events.split(', ').filter(Boolean)].map(seen);
  return powerAfter([...all, { seen: 'time', at: AT + untilMs }]);
}
