import { expect, it } from 'vitest';
import type { SocketAction } from '../../../src/simulator/simulator-schema.ts';
import { type ActedSocket, applySocketAction } from '../../../src/simulator/socket-actions.ts';

/** The effects of an action on a socket. */
function done(action: SocketAction, sendsArgs = false): readonly string[] {
  const calls: string[] = [];
  const socket: ActedSocket = {
    sendRaw: (frame, binary) => void calls.push(`${binary ? 'binary' : 'text'} ${frame.toString()}`),
    close: (code, reason) => void calls.push(`close ${code} ${reason}`),
    drop: () => void calls.push('drop'),
    freeze: () => void calls.push('freeze'),
    expireNow: () => void calls.push('expire'),
  };
  applySocketAction(socket, action, sendsArgs);
  return calls;
}

it.each<[SocketAction, string]>([
  [{ kind: 'drop' }, 'drop'],
  [{ kind: 'half-open' }, 'freeze'],
  [{ kind: 'expire' }, 'expire'],
  [{ kind: 'close', code: 4_000, reason: 'a' }, 'close 4000 a'],
  [{ kind: 'close', code: 4_000 }, 'close 4000 '],
  [{ kind: 'send', event: 'a', args: ['b'] }, 'text {"event":"a","args":["b"]}'],
  [{ kind: 'send', event: 'a' }, 'text {"event":"a"}'],
  [{ kind: 'raw', text: '{' }, 'text {'],
  [{ kind: 'binary', base64: 'YQ==' }, 'binary a'],
  [{ kind: 'garbage' }, 'text {"event":"stats","args":["{\\"memory_bytes\\":'],
  [{ kind: 'oversize', bytes: 3 }, 'text {"event":"console output","args":["xxx"]}'],
])('%j does this to the socket: %s', (action, call) => {
  expect(done(action)).toEqual([call]);
});

it('a frame without arguments has them where the daemon always sends them', () => {
  expect(done({ kind: 'send', event: 'a' }, true)).toEqual(['text {"event":"a","args":[]}']);
});

it('an oversize message is larger than a client accepts', () => {
  const [frame = ''] = done({ kind: 'oversize' });
  expect(frame.length).toBeGreaterThan(1_048_576);
});
