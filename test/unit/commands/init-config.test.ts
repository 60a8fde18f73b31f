import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { configText, type NewPanel, readPanel } from '../../../src/commands/init-config.ts';
import { Secret } from '../../../src/text/redaction.ts';

const PANEL: NewPanel = { url: 'https://panel.example.com', keyFile: 'panel-key' };
const KEY = new Secret('ptlc_a_key_of_this_test_that_is_long_enough');

const written = (panel: Partial<NewPanel>, discover: readonly string[] = []) =>
  parse(configText({ ...PANEL, ...panel }, discover)).panels[0];

it('a configuration names the panel after its host, and discovers all servers', () => {
  expect(written({ url: 'https://panel.example.com:8443' })).toEqual({
    name: 'panel.example.com:8443',
    url: 'https://panel.example.com:8443',
    api_key_file: 'panel-key',
    discover: true,
  });
});

it.each([
  ['https://panel.example.com', undefined],
  ['http://127.0.0.1:8000', undefined],
  ['http://panel.lan', true],
])('a configuration for %s has allow_insecure %s', (url, allowed) => {
  expect(written({ url }).allow_insecure).toBe(allowed);
});

it.each<[readonly string[], unknown]>([
  [['type: admin-all'], { type: 'admin-all' }],
  [['type: admin-all', 'query: auto'], { type: 'admin-all', query: 'auto' }],
  [
    ['query: auto', 'expect:', '  - match:', '      id: [a]'],
    { query: 'auto', expect: [{ match: { id: ['a'] } }] },
  ],
])('the settings %j are those of discover', (lines, discover) => {
  expect(written({}, lines).discover).toEqual(discover);
});

it.each(['main', 'a: b # c', '${HOME} $$', 'it\'s "mine"', '1e3', 'a long name '.repeat(16).trim()])(
  'the name %j is read as it was typed',
  async (name) => {
    const panel = await readPanel({ ...PANEL, name }, KEY, 'config.yaml');
    expect(panel.name).toBe(name);
    expect(panel.apiKey).toBe(KEY);
  },
);

it('a name that the configuration rejects is an error with its place', async () => {
  await expect(readPanel({ ...PANEL, name: ' ' }, KEY, 'config.yaml')).rejects.toThrow(/^config\.yaml:3:/);
});
