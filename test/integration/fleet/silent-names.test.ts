import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { fastClock } from '../../support/exporter.ts';
import { lookupPool } from '../../support/lookup-pool.ts';
import { observed, panelEntry, simulated } from '../../support/stage.ts';

/** So slow that a busy machine stays within the connect timeout. */
const SPEED = 20;

interface PanelOnStage {
  readonly name: string;
  readonly simulator: Simulator;
  readonly url: string;
}

/** A panel at this host. Its nodes have the name `node.<name>.test`. */
async function panelOf(name: string, host: string, servers: number): Promise<PanelOnStage> {
  const specs = Array.from({ length: servers }, (_, index) => ({ name: `${name}-${index}` }));
  const simulator = await simulated({ clock: fastClock(SPEED), servers: specs });
  const { port } = new URL(simulator.url);
  const url = `http://${host}:${port}`;
  simulator.set({ expectedOrigin: url });
  for (const { uuid } of simulator.servers)
    simulator.advertise(uuid, `ws://node.${name}.test:${port}/api/servers/${uuid}/ws`);
  return { name, simulator, url };
}

function yamlOf(panels: readonly PanelOnStage[]): string {
  const entries = panels.map(({ name, url, simulator: { apiKey, servers } }) =>
    panelEntry(
      { url, apiKey },
      [
        'allow_insecure: true',
        'requests_per_minute: 3000',
        `socket_hosts: [node.${name}.test]`,
        'servers:',
        ...servers.map(({ uuid, name: server }) => `  - { id: ${uuid}, name: ${server} }`),
      ],
      name,
    ),
  );
  return ['panels:', ...entries].join('\n');
}

/** The lines of the exposition with this name, panel and value. */
const seriesOf = (text: string, name: string, panel: string, value: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(`panel="${panel}"`))
    .filter((line) => line.endsWith(` ${value}`));

describe('a panel whose nodes have a name that a silent name server is responsible for', () => {
  it("doesn't affect another panel, and its servers have the cause node_dns", async () => {
    // The bad panel has an IP address, because a new connection to a panel with a name would also
    // wait for the silent name server.
    const bad = await panelOf('bad', '127.0.0.1', 8);
    const good = await panelOf('good', 'panel.good.test', 20);
    const pool = lookupPool((name) => (name === 'node.bad.test' ? undefined : '127.0.0.1'));
    const exporter = await observed({ yaml: yamlOf([bad]), clock: fastClock(SPEED), lookUp: pool.lookUp });
    await eventually(() => expect(pool.begun).toContain('node.bad.test'));

    // All names of the other panel are looked up while the name server is silent.
    await exporter.reload(yamlOf([bad, good]));
    const streaming = async () => {
      const text = await exporter.scrape();
      expect(seriesOf(text, 'gameserver_panel_up', 'good', '0')).toEqual([]);
      return seriesOf(text, 'gameserver_collection_streaming', 'good', '1').length;
    };
    for (const round of [1, 2, 3]) {
      await eventually(async () => expect(await streaming(), `round ${round}`).toBe(20));
      const lookups = pool.begun.length;
      good.simulator.sockets({ kind: 'drop' });
      await eventually(() => expect(pool.begun.slice(lookups)).toContain('node.good.test'));
    }
    await eventually(async () => expect(await streaming()).toBe(20));

    await eventually(async () => {
      const { servers } = (await (await fetch(`${exporter.url}/api/v1/servers`)).json()) as {
        readonly servers: readonly { readonly panel: string; readonly cause?: string }[];
      };
      const causes = servers.filter(({ panel }) => panel === 'bad').map(({ cause }) => cause);
      expect(causes).toEqual(Array.from({ length: 8 }, () => 'node_dns'));
    });
    const problems = exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
    expect(problems.filter((line) => JSON.stringify(line).includes('"panel":"good"'))).toEqual([]);
  });
});
