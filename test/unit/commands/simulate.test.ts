import { describe, expect, it } from 'vitest';
import { listenHosts, simulatorConfig } from '../../../src/commands/simulate.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { parseListenAddress } from '../../../src/http/listen-address.ts';
import type { ServerInfo, Simulator } from '../../../src/simulator/simulator-interface.ts';

const server = {
  uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca',
  name: 'survival',
  profile: 'busy',
  limits: { memory: 0, disk: 0, cpu: 150 },
  gamePort: 25_565,
} as unknown as ServerInfo;

const panelAt = (url: string) =>
  ({
    url,
    secondNodeUrl: url,
    controlUrl: url,
    apiKey: 'ptlc_of_this_test',
    servers: [server],
  }) as unknown as Simulator;

it.each([
  [[':10317'], [undefined]],
  [
    ['127.0.0.1:1', '[::1]:1', '127.0.0.1:2'],
    ['127.0.0.1', '::1'],
  ],
])('the hosts of %j are %j', (addresses, hosts) => {
  expect(listenHosts(addresses.map(parseListenAddress))).toEqual(hosts);
});

describe('the configuration of a simulated panel', () => {
  it.each([
    ['on this machine', 'http://127.0.0.1:10318', true, 1],
    ['for an exporter on another one', 'http://localhost:10318', false, 0],
    ['at an address of this network', 'http://192.0.2.1:10318', false, 0],
  ])('is valid %s', async (_, url, isExporterHere, queried) => {
    const { config, issues } = await parseConfig(simulatorConfig(panelAt(url), isExporterHere), 'c', {});
    expect(issues).toEqual([]);
    expect(config?.panels[0]?.servers.filter(({ query }) => query !== undefined)).toHaveLength(queried);
  });
});
