import { expect, it } from 'vitest';
import {
  CONSOLE_GRANT,
  DAEMONS,
  DIALECT_FACTS,
  DIALECT_NAMES,
  joinNames,
  panelsWith,
  permissionText,
} from '../../../../src/panel/dialects/facts.ts';

it.each<[readonly string[], string]>([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
])('the names %j are %s', (names, text) => {
  expect(joinNames(names)).toBe(text);
});

it('each dialect and each panel has one name', () => {
  expect(DIALECT_NAMES).toEqual([...new Set(DIALECT_NAMES)]);
  const panels = DIALECT_FACTS.flatMap((facts) => facts.panels);
  expect(panels).toEqual([...new Set(panels)]);
  expect(panelsWith(() => true)).toBe(joinNames(panels));
  expect(panelsWith(({ name }) => name === 'calagopus')).toBe('Calagopus');
});

it('daemons are those of any dialect, each once', () => {
  expect(DAEMONS).toEqual(['wings', 'elytra']);
  expect(CONSOLE_GRANT.match(/open the server/g)).toHaveLength(1);
});

it('a permission has the usual name, and those of the panels that call it otherwise', () => {
  expect(permissionText(({ permissions }) => permissions.backups)).toBe(
    '`backup.read` (`backups.read` in Calagopus)',
  );
  expect(permissionText(({ permissions }) => permissions.listing)).toBe('`servers.read`');
  expect(permissionText(() => 'a')).toBe('`a`');
});
