import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { uuidOf } from '../../support/listed.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, serverReading } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';
import { observed, simulated, yamlOf } from '../../support/stage.ts';

interface Group {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The address of the target list of an exporter with this configuration. */
async function discoveryOf(yaml: string): Promise<string> {
  return `${(await observed({ yaml })).url}/api/v1/sd`;
}

/** A configuration with discovered servers. */
const discovering = (panel: Simulator) => yamlOf(panel, ['discover: { interval: 1m }']);

async function groupsAt(url: string): Promise<readonly Group[]> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return (await response.json()) as readonly Group[];
}

const untilTargets = (url: string, targets: readonly string[]) =>
  eventually(async () => expect((await groupsAt(url)).flatMap((group) => group.targets)).toEqual(targets));

const SERVERS = [
  {
    name: 'aliased',
    egg: 'Paper',
    allocation: { ip: '203.0.113.7', alias: 'play.example.com', port: 25_565 },
  },
  { name: 'plain', node: 'fra-1', allocation: { ip: '203.0.113.7', port: 25_566 } },
];

describe('the targets for the monitored servers', () => {
  it('follow the server list', async () => {
    const panel = await simulated({ servers: SERVERS.slice(0, 1) });
    const url = await discoveryOf(discovering(panel));
    await untilTargets(url, ['play.example.com:25565']);
    panel.addServer({ name: 'another', allocation: { ip: '203.0.113.9', port: 7 } });
    panel.deleteServer('aliased');
    await untilTargets(url, ['203.0.113.9:7']);
    const { identifier } = panel.server('another');
    expect((await groupsAt(url))[0]?.labels).toMatchObject({ __meta_gameserver_server_id: identifier });
  });
});

describe('the response', () => {
  it('is 503 until the server list has been read, so that Prometheus keeps its targets', async () => {
    const panel = await simulated({ servers: SERVERS });
    panel.failRest({ kind: 'hang', endpoint: 'listing' });
    const url = await discoveryOf(discovering(panel));
    const response = await fetch(url);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await response.text()).toBe("Not ready yet: the panels' server lists have not been read.\n");
    panel.clearFaults();
    await eventually(async () => expect((await fetch(url)).status).toBe(200));
    await eventually(async () => expect(await groupsAt(url)).toHaveLength(2));
  });

  it('leaves the event loop free while 10,000 servers are written', async () => {
    const servers = Array.from({ length: 10_000 }, (_, n) =>
      serverReading({ target: { id: uuidOf(n), address: `192.0.2.1:${n}` } }),
    );
    const fleet = fleetReading(servers);
    const { routes } = exporterRoutes({ fleet, clock: new ManualClock() });
    let turns = 0;
    let isAnswered = false;
    const count = (): void => {
      turns += 1;
      if (!isAnswered) setImmediate(count);
    };
    setImmediate(count);
    const response = await routes.request('/api/v1/sd', {}, {});
    isAnswered = true;
    expect(await response.json()).toHaveLength(10_000);
    expect(turns).toBeGreaterThan(4);
  });
});
