import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { acceleratedNode } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { launch } from '../support/process.ts';
import { configFile, endPrograms } from '../support/program.ts';

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** An unused address, because this machine's own name server may be on 127.0.0.53. */
const NAME_SERVER = '127.0.0.77';

/**
 * The speed of the exporter's clock. A busy machine needs more time for a stop than the exporter
 * allows.
 */
const SLOW = 1 / 4;

/**
 * Only root can give a process its own name server, with a mount namespace, and listen on port 53.
 */
const canUnshare = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;

const stops: (() => Promise<void>)[] = [];

afterEach(async () => {
  await endPrograms();
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** A name server that receives requests but never responds. */
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

/** A panel whose sockets have addresses with this name. */
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

/** Starts `serve` with its own files for name resolution, which contain only some of the names. */
async function serve(yaml: string) {
  const folder = await mkdtemp(join(tmpdir(), 'names-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${NAME_SERVER}\noptions timeout:30 attempts:5\n`);
  await writeFile(join(folder, 'hosts'), '127.0.0.1 localhost panel.test\n');
  const mounts = ['resolv.conf', 'hosts'].map((file) => `mount --bind '${join(folder, file)}' /etc/${file}`);
  const program = launch('unshare', [
    '-m',
    'sh',
    '-c',
    `${mounts.join(' && ')} && exec "$0" "$@"`,
    process.execPath,
    ...acceleratedNode(SLOW),
    CLI,
    'serve',
    '--storage.path=',
    '--config',
    await configFile(yaml),
    '--web.listen-address',
    '127.0.0.1:0',
  ]);
  return program;
}

describe.skipIf(!canUnshare)('a name server that never responds', () => {
  it("doesn't delay the stop of the program", async () => {
    const nameServer = await silentNameServer();
    const bad = await panelOf('bad', 1, 'node.silent.test');
    const program = await serve(['panels:', ...entryOf('bad', bad, 'node.silent.test')].join('\n'));
    await eventually(() => expect(nameServer.questions()).toBeGreaterThan(0));
    // The stop doesn't wait for the lookup, which would take 150 s (five times 30 s) and end with
    // exit code 0.
    program.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: null, signal: 'SIGTERM' });
    expect(program.stderr.trimEnd()).toMatch(/"msg":"stopped"\}$/);
  });
});
