import { expect, it } from 'vitest';
import { initSummary } from '../../../src/commands/init-summary.ts';
import type { KeyAccess } from '../../../src/commands/key-access.ts';
import { Printout } from '../../../src/doctor/paint.ts';
import type { ListedServer } from '../../../src/panel/responses.ts';
import { printable } from '../../../src/text/printable.ts';

const named = (name: string) => ({ name }) as ListedServer;

const lines = (access: Partial<KeyAccess>, written: readonly string[] = ['my config.yaml', 'panel-key']) =>
  initSummary(
    new Printout(false, 200),
    'https://panel.example.com',
    { servers: [], problem: undefined, account: undefined, limitPerMinute: 240, ...access },
    { config: 'my config.yaml', written },
  ).split('\n');

it('a summary names the files, and the commands to run next with the file as a shell reads it', () => {
  const all = lines({});
  expect(all[0]).toBe('The panel at https://panel.example.com accepts the key.');
  expect(all).toContain('Wrote my config.yaml and panel-key (readable only by you)');
  expect(all.slice(-5, -1).map((line) => line.trim().replace(/^.* (?=\w+ --config)/, ''))).toEqual([
    'Next:',
    "check --config 'my config.yaml'",
    "doctor --config 'my config.yaml'",
    "serve --config 'my config.yaml'",
  ]);
});

it.each<[Partial<KeyAccess>, string]>([
  [{}, '  account  not reported by the panel'],
  [
    { account: { username: 'a\u001b[2Jb', isAdmin: false, isKeyUnlimited: true } },
    `  account  ${printable('a\u001b[2Jb')}`,
  ],
  [
    { account: { username: 'ann', isAdmin: true, isKeyUnlimited: false } },
    '  account  ann, an administrator',
  ],
  [
    { account: { username: 'ann', isAdmin: true, isKeyUnlimited: true } },
    '  account  ann, an administrator: the key can change everything, so prefer a read-only account',
  ],
  [{}, '  servers  none yet: add the account to servers as a subuser, and they are discovered automatically'],
  [{ servers: ['a', 'b'].map(named) }, '  servers  2: a, b'],
  [{ servers: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(named) }, '  servers  7: a, b, c, d, e and 2 more'],
])('of the access %j it says %j', (access, line) => {
  expect(lines(access)).toContain(line);
});
