import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../../src', import.meta.url));

/**
 * All modules that these entries import, directly or indirectly, and the entries. Type imports are
 * followed as well, although they leave no code.
 */
function reachable(...entries: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const waiting = entries.map((entry) => resolve(SRC, entry));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    const text = readFileSync(file, 'utf8');
    found.set(file, text);
    for (const [, path = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)) {
      if (path.endsWith('.ts')) waiting.push(resolve(dirname(file), path));
    }
  }
  return new Map([...found].map(([file, text]) => [relative(SRC, file), text]));
}

/**
 * The modules that define or encode messages which change a server. Only a module that imports one
 * of them can send such a message.
 */
const ENCODERS: readonly string[] = [
  'panel/socket-codec.ts',
  'panel/dialects/pterodactyl/socket-messages.ts',
];
const CHANGING = /['"`](?:set state|send command)['"`]/;

const modulesThatName = (modules: ReadonlyMap<string, string>) =>
  [...modules]
    .filter(([file, text]) => !ENCODERS.includes(file) && CHANGING.test(text))
    .map(([file]) => file);

describe.each([
  ['the daemon', ['app/app.ts', 'commands/serve.ts']],
  ['the doctor', ['commands/doctor.ts']],
])('%s', (_name, entries) => {
  const modules = reachable(...entries);

  it('imports no part of the console', () => {
    expect(modules.size).toBeGreaterThan(50);
    expect([...modules.keys()].filter((file) => file.startsWith('console/'))).toEqual([]);
  });

  it('contains no message that changes a server', () => {
    expect(ENCODERS.filter((file) => !modules.has(file))).toEqual([]);
    expect(modulesThatName(modules)).toEqual([]);
  });
});

it('only the console contains messages that change a server', () => {
  expect(modulesThatName(reachable('commands/console.ts')).sort()).toEqual(['console/console-run.ts']);
});
