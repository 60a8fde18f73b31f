import { describe, expect, it } from 'vitest';
import { isDiscoveryPending, targetGroups } from '../../../../src/status-page/data/service-discovery.ts';
import {
  fleetReading,
  panelReading,
  type ServerReadingChanges,
  serverReading,
} from '../../../support/readings.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

const fleetWith = (...servers: ServerReadingChanges[]) => fleetReading(servers.map(serverReading));
const targetsText = (fleet: ReturnType<typeof fleetWith>) => [...targetGroups(fleet)].join('');
const targetGroupsWith = (...servers: ServerReadingChanges[]) =>
  JSON.parse(targetsText(fleetWith(...servers))) as readonly { readonly targets: readonly string[] }[];

describe('the list of targets', () => {
  it('has a server with everything that is known', () => {
    const target = {
      id: UUID,
      uuid: UUID,
      egg: 'Paper',
      address: '203.0.113.7:25565',
      labels: { game: 'minecraft', metrics_port: '9940' },
    };
    expect(targetGroupsWith({ target, node: 'fra-1' })).toEqual([
      {
        targets: ['203.0.113.7:25565'],
        labels: {
          __meta_gameserver_panel: 'main',
          __meta_gameserver_server: 'survival',
          __meta_gameserver_server_id: '1a7ce997',
          __meta_gameserver_uuid: UUID,
          __meta_gameserver_node: 'fra-1',
          __meta_gameserver_egg: 'Paper',
          __meta_gameserver_label_game: 'minecraft',
          __meta_gameserver_label_metrics_port: '9940',
        },
      },
    ]);
  });

  it('omits what is unknown', () => {
    expect(targetGroupsWith({ target: { address: '[2001:db8::7]:1' } })).toEqual([
      {
        targets: ['[2001:db8::7]:1'],
        labels: {
          __meta_gameserver_panel: 'main',
          __meta_gameserver_server: 'survival',
          __meta_gameserver_server_id: '1a7ce997',
        },
      },
    ]);
  });

  it.each([
    ['short', '1A7CE997'],
    ['full', UUID],
  ])('refers to a server by its identifier if the configuration has a %s id', (_what, id) => {
    expect(targetGroupsWith({ target: { id, address: 'a:1' } })).toMatchObject([
      { labels: { __meta_gameserver_server_id: '1a7ce997' } },
    ]);
  });

  it.each(['169.254.169.254', '[::ffff:100.100.100.200]', '224.0.0.1', '[ff02::1]'])(
    'omits a server at %s, a metadata, multicast, broadcast or reserved address',
    (host) => {
      expect(
        targetGroupsWith({ target: { address: `${host}:80` } }, { target: { address: 'a:80' } }),
      ).toMatchObject([{ targets: ['a:80'] }]);
    },
  );

  it.each(['127.0.0.1', '10.0.0.7', '[::1]', '203.0.113.7', 'play.example.com'])(
    'has a server at %s',
    (host) => {
      expect(targetGroupsWith({ target: { address: `${host}:80` } })).toMatchObject([
        { targets: [`${host}:80`] },
      ]);
    },
  );

  it('is empty if no server has an address', () => {
    expect(targetsText(fleetWith())).toBe('[]\n');
    expect(targetsText(fleetWith({}, {}))).toBe('[]\n');
  });

  it('is in the order of the fleet', () => {
    const addresses = Array.from({ length: 100 }, (_, n) => (n % 3 > 0 ? `192.0.2.1:${n}` : undefined));
    const groups = targetGroupsWith(
      ...addresses.map((address) => ({ target: address === undefined ? {} : { address } })),
    );
    expect(groups.flatMap(({ targets }) => targets)).toEqual(addresses.filter(Boolean));
  });
});

it.each([
  ['is being read for the first time', [true], true],
  ['has been read', [false], false],
  ['of another panel is being read for the first time', [false, true], true],
  ['is not used', [undefined], false],
])('the list is pending if the server list %s', (_what, panels, expected) => {
  const readings = panels.map((isPending) => {
    if (isPending === undefined) return panelReading();
    return panelReading({
      discovery: { isPending, servers: 0, leftOut: 0, ambiguous: 0, succeededUnixMs: undefined, failures: 0 },
    });
  });
  expect(isDiscoveryPending(fleetReading([], readings))).toBe(expected);
});
