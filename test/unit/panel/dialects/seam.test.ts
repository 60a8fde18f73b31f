import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../../../src', import.meta.url));

/** The modules of src, without the simulator, that match the pattern. */
function modulesWith(pattern: RegExp): readonly string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('simulator/'))
    .filter((file) => pattern.test(readFileSync(join(SRC, file), 'utf8')))
    .sort();
}

it('the dialect is known where a panel is composed and where its API is called, and nowhere else', () => {
  const withDialect = modulesWith(/dialects\/pterodactyl/);
  const others = withDialect.filter((file) => !file.startsWith('panel/'));
  expect(others).toEqual(['app/panel-access.ts']);
});

it('the prefixes of API keys are in one place', () => {
  expect(modulesWith(/\b(?:ptl|pac|pap)[a-z]_/)).toEqual(['domain/api-keys.ts']);
});

it('the paths of the API are in the dialect', () => {
  const withPaths = modulesWith(/['"`]\/api\/client(?:\?|\/[a-z])/);
  expect(withPaths.filter((file) => !file.startsWith('panel/dialects/'))).toEqual([]);
});

it('how panels and daemons word their refusals is in the dialect', () => {
  const withWords = modulesWith(
    /on this instance|deny ?list|uuid mismatch|application API key\/|IP address\\b/,
  );
  expect(withWords).toEqual(['panel/dialects/pterodactyl/refusals.ts']);
});
