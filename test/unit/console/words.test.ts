import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { explainTrouble } from '../../../src/console/explain.ts';
import { commandProblem, lengthProblem } from '../../../src/console/messages.ts';
import { narrate } from '../../../src/console/narrate.ts';
import { lacks, POWER_PERMISSIONS, permissionsOf } from '../../../src/console/permissions.ts';

const token = (claims: Record<string, unknown>) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32));

describe('narrate', () => {
  it.each([
    ['console output', ['a line'], { kind: 'output', text: 'a line' }],
    ['install output', ['fetching'], { kind: 'output', text: 'fetching' }],
    ['transfer logs', ['10 %'], { kind: 'output', text: '10 %' }],
    ['daemon message', ['Updating'], { kind: 'note', text: 'the node says: Updating', failed: false }],
    [
      'daemon error',
      ['another power action is running'],
      { kind: 'note', text: 'the node reports an error: another power action is running', failed: true },
    ],
    [
      'throttled',
      ['send command'],
      { kind: 'note', text: 'the node dropped a "send command" message: too many at once', failed: true },
    ],
    ['install started', [], { kind: 'note', text: 'the installation has begun', failed: false }],
    ['install completed', [], { kind: 'note', text: 'the installation is over', failed: false }],
    [
      'transfer status',
      ['success'],
      { kind: 'note', text: 'transfer to another node: success', failed: false },
    ],
    ['backup completed', ['{}'], { kind: 'note', text: 'a backup has ended', failed: false }],
    ['backup restore completed', [], { kind: 'note', text: 'a backup was restored', failed: false }],
    ['deleted', [], { kind: 'gone', text: 'the server was deleted' }],
    ['stats', ['{}'], undefined],
    ['status', ['running'], undefined],
    ['token expiring', [], undefined],
    ['feature match', ['eula'], undefined],
    ['nobody knows', ['x'], undefined],
  ])('%s', (event, args, told) => {
    expect(narrate({ event, args })).toEqual(told);
  });

  it("cleans a node's words", () => {
    const told = narrate({ event: 'daemon message', args: ['\u001b]0;owned\u0007a\nb'] });
    expect(told).toMatchObject({ text: 'the node says: a b' });
  });
});

describe('permissions', () => {
  it('are read from a token that tells them', async () => {
    const permissions = permissionsOf(
      await token({ permissions: ['control.start', 7, 'websocket.connect'] }),
    );
    expect([...(permissions ?? [])]).toEqual(['control.start', 'websocket.connect']);
    expect(lacks(permissions, POWER_PERMISSIONS.start)).toBe(false);
    expect(lacks(permissions, POWER_PERMISSIONS.kill)).toBe(true);
  });

  it('are all there for an owner, and unknown where a token tells nothing', async () => {
    expect(lacks(permissionsOf(await token({ permissions: ['*'] })), 'control.console')).toBe(false);
    expect(permissionsOf(await token({}))).toBeUndefined();
    expect(permissionsOf('opaque')).toBeUndefined();
    expect(lacks(undefined, 'control.console')).toBe(false);
  });
});

describe('commandProblem', () => {
  const all = new Set(['*']);

  it.each([
    ['nothing', 'list', { state: 'running', permissions: all }, undefined],
    ['nothing where little is known', 'list', { state: undefined, permissions: undefined }, undefined],
    ['a server that is off', 'list', { state: 'offline', permissions: all }, 'the server is offline'],
    [
      'a permission that is missing',
      'list',
      { state: 'running', permissions: new Set(['websocket.connect']) },
      "the key's account lacks the permission control.console for this server",
    ],
    [
      'its length',
      'x'.repeat(4_096),
      { state: 'running', permissions: all },
      'it is too long: the node takes messages of 4095 bytes at most',
    ],
  ] as const)('%s', (_name, command, standing, problem) => {
    expect(commandProblem(command, standing)).toBe(problem);
  });

  it('counts bytes', () => {
    expect(lengthProblem('ż'.repeat(2_000))).toBeUndefined();
    expect(lengthProblem('ż'.repeat(2_100))).toContain('too long');
  });
});

describe('explainTrouble', () => {
  it.each([
    [
      'forbidden',
      'no',
      'no; the account needs the permission websocket.connect for this server (the key came from KEY)',
    ],
    ['unauthorized', 'no', 'no (the key came from KEY)'],
    ['not_found', 'no', 'no (the key came from KEY)'],
    ['timeout', 'no', 'no'],
    [undefined, 'the socket was closed', 'the socket was closed'],
    [
      undefined,
      'the node refused the token: "jwt: missing connect permission"',
      `the node refused the token: "jwt: missing connect permission": the key's account lacks the permission websocket.connect for this server`,
    ],
  ] as const)('%s: %s', (kind, trouble, words) => {
    expect(explainTrouble(trouble, { kind, keySource: 'KEY' })).toBe(words);
  });
});
