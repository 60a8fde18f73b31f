import { expect, it } from 'vitest';
import { disclosedParts, readDisclosed } from '../../../src/config/config-text.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { readText } from '../../support/deploy-files.ts';

const SMALL = `
panels:
  - name: main
    url: https://panel.example.com
    api_key: ptlc_a_key_of_this_test
    servers:
      - id: "10000000"
`;

/** The example, including the settings in comments. */
const EXAMPLE = readText('config.example.yaml').replaceAll(/^( *)#(?=[a-z-])/gm, '$1');

// With a strict comparison, because a key without a value would get lost, and a reload would then
// see a change of every server.
it.each([
  ['with its id alone', SMALL],
  ['with every setting of the example', EXAMPLE],
])('a server %s comes out of the thread as it was', async (_, text) => {
  const { config } = await parseConfig(text, 'config.yaml', { PANEL_API_KEY: 'ptlc_a_key_of_this_test' });
  if (config === undefined) throw new Error('the configuration is invalid');
  const [, ...parts] = Array.from(disclosedParts({ ok: true, config, secretFiles: [] }), readDisclosed);
  const servers = config.panels.map(({ servers: ofPanel }, index) => [index, ofPanel] as const);
  expect(parts).toStrictEqual(servers.filter(([, ofPanel]) => ofPanel.length > 0));
});
