// Starts a program, and waits for its first response.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The exporter's configuration, and the folder to which it is written. */
export interface Launch {
  readonly folder: string;
  readonly config: string;
}

const CLI = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const BARE = "require('node:http').createServer((q, a) => a.end()).listen(+process.argv[1], '127.0.0.1')";

const RETRY_MS = 2;
const DEADLINE_MS = 60_000;

/**
 * Milliseconds from the start of a program to its first HTTP response. Ends the program afterwards.
 */
export async function timeToAnswer(program: 'exporter' | 'bare', launch: Launch): Promise<number> {
  const configFile = join(launch.folder, 'config.yaml');
  await writeFile(configFile, launch.config);
  const port = await freePort();
  const serve = [
    'serve',
    '--storage.path=',
    '--config',
    configFile,
    '--web.listen-address',
    `127.0.0.1:${port}`,
  ];
  const args = program === 'exporter' ? [CLI, ...serve, '--log.level', 'error'] : ['-e', BARE, `${port}`];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = once(child, 'exit');
  try {
    while (!(await answers(`http://127.0.0.1:${port}/metrics`))) {
      if (child.exitCode !== null) throw new Error(`the ${program} ended before it responded`);
      if (performance.now() - startedAt > DEADLINE_MS) throw new Error(`the ${program} never responded`);
      await delay(RETRY_MS);
    }
    return performance.now() - startedAt;
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { agent: false }, resolve).on('error', reject);
    });
    // The time includes receiving the body, but not decoding it.
    for await (const _ of response);
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

/** Finds a free port. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
