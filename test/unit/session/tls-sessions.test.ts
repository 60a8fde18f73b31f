import { EventEmitter } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { TlsSessions } from '../../../src/session/tls-sessions.ts';

class FakeSocket extends EventEmitter {
  isReused = false;
  offered: string | undefined;

  setSession(session: Buffer): void {
    this.offered = session.toString();
  }

  isSessionReused(): boolean {
    return this.isReused;
  }
}

/** A connection to a node that accepts the offered session, or issues a new one. */
function connect(
  sessions: TlsSessions,
  node: string,
  { accepts, grants }: { accepts: boolean; grants: string },
) {
  const socket = new FakeSocket();
  // The real class has more methods than are used.
  sessions.use(socket as unknown as TLSSocket, node);
  const { offered } = socket;
  socket.isReused = accepts && offered !== undefined;
  socket.emit('secureConnect');
  socket.emit('session', Buffer.from(grants));
  return offered;
}

it('a node gets the session that it granted, and no other node does', () => {
  const sessions = new TlsSessions();
  expect(connect(sessions, 'a:443', { accepts: true, grants: 'first' })).toBe(undefined);
  expect(connect(sessions, 'a:443', { accepts: true, grants: 'second' })).toBe('first');
  expect(connect(sessions, 'a:443', { accepts: true, grants: 'third' })).toBe('first');
  expect(connect(sessions, 'a:8443', { accepts: true, grants: 'other' })).toBe(undefined);
});

it('a session that its node no longer accepts is replaced', () => {
  const sessions = new TlsSessions();
  connect(sessions, 'a:443', { accepts: true, grants: 'old' });
  expect(connect(sessions, 'a:443', { accepts: false, grants: 'ignored' })).toBe('old');
  expect(connect(sessions, 'a:443', { accepts: true, grants: 'new' })).toBe(undefined);
  expect(connect(sessions, 'a:443', { accepts: true, grants: 'newer' })).toBe('new');
});

it('a panel with ever new nodes has at most a thousand sessions', () => {
  const sessions = new TlsSessions();
  const nodes = Array.from({ length: 2_500 }, (_, index) => `node-${index}:443`);
  for (const node of nodes) connect(sessions, node, { accepts: true, grants: node });
  const kept = nodes.filter((node) => connect(sessions, node, { accepts: true, grants: node }) !== undefined);
  expect(kept.length).toBeLessThanOrEqual(1_000);
});
