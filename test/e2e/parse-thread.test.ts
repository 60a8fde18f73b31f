import { expect, it } from 'vitest';
import { parseInThread } from '../../src/config/load.ts';
import { parseConfig } from '../../src/config/parse.ts';

const ENV = { KEY: 'ptlc_key', NAME: 'survival' };

const EVERY_KIND = `
compatibility: pterodactyl_exporter
log: { level: debug }
panels:
  - name: main
    url: https://panel.example.com
    api_key: \${KEY}
    requests_per_minute: 240
    poll_interval: 1m
    socket_hosts: [node.example.com]
    tls_config: { ca_file: ca.pem }
    backups: { interval: 1h }
    discover:
      type: owner
      include: { name: ['prod-*'], node: ['fra-?'] }
      expect:
        - match: { egg: [Paper*] }
          state: any
      labels: { game: minecraft }
    servers:
      - { id: 1a7ce997, name: "\${NAME}", labels: { constructor: 'yes' }, limits: { memory: 4GiB, cpu_cores: unlimited } }
      - { id: d3aac109, expect: any, mode: poll }
`;

it.each([
  { what: 'a valid configuration', text: EVERY_KIND },
  {
    what: 'a configuration with several problems',
    text: EVERY_KIND.replace('1m', 'soon').replace('any', 'most'),
  },
  { what: "a file that isn't YAML", text: 'panels: {' },
  { what: 'an empty file', text: '' },
  { what: 'a configuration that is nested too deeply', text: '['.repeat(100_000) },
])('the thread reads $what with the same result as in-process', async ({ text }) => {
  const parsed = await parseInThread(text, 'config.yaml', ENV);
  expect(parsed).toEqual(parseConfig(text, 'config.yaml', ENV));
});

it('the valid one is valid', () => {
  expect(parseConfig(EVERY_KIND, 'config.yaml', ENV).issues).toEqual([]);
});
