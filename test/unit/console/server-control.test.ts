import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  commandProblem,
  isReached,
  lacks,
  lengthProblem,
  POWER_PERMISSIONS,
  permissionsOf,
  powerNeed,
  sawState,
  watchPower,
} from '../../../src/console/server-control.ts';
import type { ServerState } from '../../../src/domain/server.ts';
import type { PowerAction } from '../../../src/panel/dialect.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';

const token = (claims: Record<string, unknown>) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32));

describe('permissions', () => {
  it('are read from a token that lists them', async () => {
    const permissions = permissionsOf(
      await token({ permissions: ['control.start', 7, 'websocket.connect'] }),
    );
    expect([...(permissions ?? [])]).toEqual(['control.start', 'websocket.connect']);
    expect(lacks(permissions, POWER_PERMISSIONS.start)).toBe(false);
    expect(lacks(permissions, POWER_PERMISSIONS.kill)).toBe(true);
  });

  it('are complete for an owner, and unknown if the token lists none', async () => {
    expect(lacks(permissionsOf(await token({ permissions: ['*'] })), 'control.console')).toBe(false);
    expect(permissionsOf(await token({}))).toBeUndefined();
    expect(permissionsOf('opaque')).toBeUndefined();
    expect(lacks(undefined, 'control.console')).toBe(false);
  });
});

describe('commandProblem', () => {
  const all = new Set(['*']);

  it.each([
    ['accepts a command', 'list', { state: 'running', permissions: all }, undefined],
    [
      'accepts a command if state and permissions are unknown',
      'list',
      { state: undefined, permissions: undefined },
      undefined,
    ],
    [
      'rejects a command to a server that is off',
      'list',
      { state: 'offline', permissions: all },
      'the server is offline',
    ],
    [
      'rejects a command without permission',
      'list',
      { state: 'running', permissions: new Set(['websocket.connect']) },
      "the key's account lacks the permission control.console for this server",
    ],
    [
      'rejects a command that is too long',
      'x'.repeat(4_096),
      { state: 'running', permissions: all },
      'too long: the node accepts messages of at most 4095 bytes',
    ],
  ] as const)('%s', (_name, command, standing, problem) => {
    expect(commandProblem(command, standing, PTERODACTYL.socket)).toBe(problem);
  });

  it('counts bytes', () => {
    expect(lengthProblem('ż'.repeat(2_000), PTERODACTYL.socket)).toBeUndefined();
    expect(lengthProblem('ż'.repeat(2_100), PTERODACTYL.socket)).toContain('too long');
  });
});

describe('powerNeed', () => {
  it.each<[PowerAction, Partial<Record<ServerState, 'done' | 'wait' | 'ask'>>]>([
    ['start', { running: 'done', starting: 'wait', offline: 'ask', stopping: 'ask', unknown: 'ask' }],
    ['stop', { offline: 'done', stopping: 'wait', running: 'ask', starting: 'ask', unknown: 'ask' }],
    ['kill', { offline: 'done', stopping: 'ask', running: 'ask', starting: 'ask', unknown: 'ask' }],
    ['restart', { offline: 'ask', running: 'ask', stopping: 'ask', starting: 'ask' }],
  ])('%s', (action, needs) => {
    for (const [state, need] of Object.entries(needs)) {
      expect([state, powerNeed(action, state as ServerState)]).toEqual([state, need]);
    }
  });
});

describe('isReached', () => {
  it.each<[PowerAction, ServerState, readonly ServerState[], boolean]>([
    ['start', 'offline', [], false],
    ['start', 'offline', ['offline', 'starting'], false],
    ['start', 'offline', ['starting', 'running'], true],
    ['start', 'offline', ['starting', 'running', 'offline'], false],
    ['stop', 'running', ['running', 'stopping'], false],
    ['stop', 'running', ['stopping', 'offline'], true],
    ['kill', 'stopping', ['offline'], true],
    ['restart', 'running', ['running'], false],
    ['restart', 'running', ['unknown', 'running'], false],
    ['restart', 'running', ['stopping', 'offline', 'starting'], false],
    ['restart', 'running', ['stopping', 'offline', 'starting', 'running'], true],
    ['restart', 'running', ['starting', 'running'], true],
    ['restart', 'offline', ['offline', 'running'], true],
  ])(
    '%s of a server that is %s, followed by states %j, is complete: %s',
    (action, before, then, expected) => {
      expect(isReached(then.reduce(sawState, watchPower(action, before)))).toBe(expected);
    },
  );
});
