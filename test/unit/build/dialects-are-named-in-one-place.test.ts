import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DIALECT_FACTS, joinNames } from '../../../src/panel/dialects/facts.ts';

/** The folders where dialects may be named: their own, and the simulator, which plays panels. */
const OF_DIALECTS = /^(?:panel\/dialects|simulator)\//;

/**
 * Names of other exporters and their metrics, and of the daemon in prose. They contain the name of
 * a panel or daemon, but are the same for every dialect.
 */
const NO_DIALECT = /\b(?:pterodactyl|pelican)[_-](?:exporter|server_)|daemon \(Wings\)/g;

const NAMES = DIALECT_FACTS.flatMap(({ name, panels, daemons, keys, permissions, consolePermission }) => [
  name,
  ...panels,
  ...daemons,
  ...Object.values(keys).flat(),
  ...Object.values(permissions),
  consolePermission ?? [],
]).flat();

const ANY_NAME = new RegExp([...new Set(NAMES)].map((name) => name.replaceAll('.', '\\.')).join('|'), 'i');

/** Comments may contain any name, because they give the sources of facts. */
const COMMENT = /\/\*[^]*?\*\/|(?<![:'"`\\])\/\/[^\n]*/g;

/** The lines of code that name a dialect. */
function naming(text: string): readonly string[] {
  return text
    .replaceAll(COMMENT, '')
    .replaceAll(NO_DIALECT, '')
    .split('\n')
    .filter((line) => ANY_NAME.test(line))
    .map((line) => line.trim());
}

it.each([
  ["if (name === 'calagopus') return;", 1],
  ["const text = 'On Hydrodactyl, set `daemon`.';", 1],
  ["key.startsWith('ptlc_')", 1],
  ['/** As Pelican does. */ const x = 1; // and Wings', 0],
  ["const kind = 'pterodactyl_exporter';", 0],
])('%s: %i lines name a dialect', (line, count) => {
  expect(naming(line)).toHaveLength(count);
});

it(`no code outside of the dialects names ${joinNames(DIALECT_FACTS.map(({ name }) => name))}, or what is theirs`, () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !OF_DIALECTS.test(file),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) =>
    naming(readFileSync(`src/${file}`, 'utf8')).map((line) => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});
