import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.ts';
import { parseInThread } from '../../src/config/parse-thread.ts';

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
  { what: 'a good configuration', text: EVERY_KIND },
  { what: 'one with several problems', text: EVERY_KIND.replace('1m', 'soon').replace('any', 'most') },
  { what: 'one that is no YAML', text: 'panels: {' },
  { what: 'an empty one', text: '' },
  { what: 'one that is nested too deeply', text: '['.repeat(100_000) },
])('the thread reads $what as it is read in place', async ({ text }) => {
  const parsed = await parseInThread(text, 'config.yaml', ENV);
  expect(parsed).toEqual(parseConfig(text, 'config.yaml', ENV));
});

it('the good one is good', () => {
  expect(parseConfig(EVERY_KIND, 'config.yaml', ENV).issues).toEqual([]);
});
