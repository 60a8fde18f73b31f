import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DIALECT_FACTS, joinNames } from '../../../src/panel/dialects/facts.ts';

/** Where dialects are named: their own folder, and the panels that the simulator plays. */
const OF_DIALECTS = /^(?:panel\/dialects|simulator)\//;

/**
 * What names a panel or a daemon, but no dialect: another one would change nothing of it. The names of
 * other exporters and their metrics, and the daemon in prose.
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

/** Comments give the sources of facts, and may name whatever they like. */
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
