import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../../../src', import.meta.url));

/** The modules of src, without the simulator, whose text matches. */
function modulesWith(pattern: RegExp): readonly string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('simulator/'))
    .filter((file) => pattern.test(readFileSync(join(SRC, file), 'utf8')))
    .sort();
}

it('a dialect is chosen where a panel is composed, and known nowhere else', () => {
  const knowing = modulesWith(/dialects\/pterodactyl/);
  // The console command checks the length of its flags before it knows the panel.
  expect(knowing).toEqual(['app/panel-access.ts', 'commands/console.ts']);
});

it('the prefixes of API keys stand in one place', () => {
  expect(modulesWith(/\b(?:ptl|pac|pap)[a-z]_/)).toEqual(['domain/api-keys.ts']);
});

it('the paths of the API stand in the dialect', () => {
  const naming = modulesWith(/['"`]\/api\/client/);
  expect(naming.filter((file) => !file.startsWith('panel/dialects/'))).toEqual([]);
});
