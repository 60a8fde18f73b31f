import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { acceleratedNode } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms, metricsAt, valuesIn } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Not this machine's own name server, which may be on 127.0.0.53. */
const NAME_SERVER = '127.0.0.77';

/** How long the system waits for the name server: 30 s, five times. A lookup can't be canceled. */
const LOOKUP_MS = 150_000;

/** The speed of the exporter's clock, because a busy machine takes longer than a stop may. */
const SLOW = 1 / 4;

/** Only root may give a process its own name server, with a mount namespace, and listen on port 53. */
const canUnshare = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  await endPrograms();
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** A name server that receives questions and never responds. */
async function silentNameServer(): Promise<{ readonly questions: () => number }> {
  let questions = 0;
  const socket = createSocket('udp4').on('message', () => {
    questions += 1;
  });
  socket.bind(53, NAME_SERVER);
  await once(socket, 'listening');
  stops.push(() => new Promise((resolve) => socket.close(() => resolve())));
  return { questions: () => questions };
}

/** A panel and the name in the sockets' addresses. */
async function panelOf(name: string, servers: number, node: string): Promise<Simulator> {
  const specs = Array.from({ length: servers }, (_, index) => ({ name: `${name}-${index}` }));
  const panel = await startSimulator({ servers: specs });
  stops.push(() => panel.stop());
  const { port } = new URL(panel.url);
  panel.set({ expectedOrigin: `http://panel.test:${port}` });
  for (const { uuid } of panel.servers) panel.advertise(uuid, `ws://${node}:${port}/api/servers/${uuid}/ws`);
  return panel;
}

function entryOf(name: string, { url, apiKey, servers }: Simulator, node: string): readonly string[] {
  return [
    `  - name: ${name}`,
    `    url: http://panel.test:${new URL(url).port}`,
    `    api_key: ${apiKey}`,
    '    allow_insecure: true',
    '    requests_per_minute: 6000',
    '    connect_timeout: 2s',
    `    socket_hosts: [${node}]`,
    '    servers:',
    ...servers.map(({ uuid, name: server }) => `      - { id: ${uuid}, name: ${server} }`),
  ];
}

/** `serve` with its own files for name resolution, in which only some names are known without the name server. */
async function serve(yaml: string) {
  const folder = await mkdtemp(join(tmpdir(), 'names-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${NAME_SERVER}\noptions timeout:30 attempts:5\n`);
  await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost panel.test node.test\n');
  const mounts = ['resolv.conf', 'hosts'].map((file) => `mount --bind '${join(folder, file)}' /etc/${file}`);
  const program = launch('unshare', [
    '-m',
    'sh',
    '-c',
    `${mounts.join(' && ')} && exec "$0" "$@"`,
    process.execPath,
    ...acceleratedNode(SLOW, Date.now()),
    CLI,
    'serve',
    '--config',
    await configFile(yaml),
    '--web.listen-address',
    '127.0.0.1:0',
  ]);
  const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
  return { program, ...metricsAt(url) };
}

describe.skipIf(!canUnshare)('a name server that never responds', () => {
  it("doesn't affect the stop of the program, or a panel that doesn't need it", async () => {
    const nameServer = await silentNameServer();
    const bad = await panelOf('bad', 8, 'node.silent.test');
    const good = await panelOf('good', 20, 'node.test');
    const yaml = [
      'panels:',
      ...entryOf('bad', bad, 'node.silent.test'),
      ...entryOf('good', good, 'node.test'),
    ];
    const { program, url, scrape } = await serve(yaml.join('\n'));
    const streaming = async () => {
      const families = await scrape();
      expect(valuesIn(families, 'gameserver_panel_up', { panel: 'good' })).not.toContain(0);
      const values = valuesIn(families, 'gameserver_collection_streaming', { panel: 'good' });
      return values.filter((value) => value === 1).length;
    };
    await eventually(async () => expect(await streaming()).toBe(20));
    await eventually(() => expect(nameServer.questions()).toBeGreaterThan(0));
    // Every server of the good panel needs its name again while a lookup of the other waits.
    good.sockets({ kind: 'drop' });
    await eventually(async () => expect(await streaming()).toBe(20));
    const causes = async () => {
      const { servers } = (await (await fetch(`${url}/api/v1/servers`)).json()) as {
        readonly servers: readonly { readonly panel: string; readonly cause?: string }[];
      };
      return servers.filter(({ panel }) => panel === 'bad').map(({ cause }) => cause);
    };
    await eventually(async () => expect(await causes()).toEqual(Array.from({ length: 8 }, () => 'node_dns')));
    expect(await streaming()).toBe(20);

    const signalledAt = performance.now();
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect(performance.now() - signalledAt).toBeLessThan(LOOKUP_MS / 2);
    expect(program.stderr.trimEnd()).toMatch(/"msg":"stopped"\}$/);
  });
});
