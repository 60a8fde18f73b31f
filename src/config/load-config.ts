// Loads the configuration from a file. A running exporter does it in a thread.

import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { DIST_URL } from '../build-info.ts';
import type { ServerTarget } from '../domain/server.ts';
import { secretFiles } from '../yaml/setting-types.ts';
import { API_KEY_FILE, loadSettings } from '../yaml/text-file.ts';
import type { Environment } from '../yaml/variables.ts';
import type { Config, LoadResult } from './config.ts';
import { readDisclosed, type ServersPart } from './config-text.ts';
import { parseConfig } from './parse.ts';

/**
 * Reads the configuration and its files. Invalid input of any kind is returned as issues.
 * `skipKeyFiles` leaves the exporter's keys empty, for a user who has a separate key and may not
 * read the key files.
 */
export async function loadConfig(file: string, env: Environment, skipKeyFiles = false): Promise<LoadResult> {
  const { parsed, issues } = await loadSettings(file, (text, read) => parseConfig(text, file, env, read), {
    advice: 'create it with init, copy config.example.yaml there, or name another file with --config',
    skipped: skipKeyFiles ? API_KEY_FILE : undefined,
  });
  if (parsed?.config === undefined) return { ok: false, issues: parsed?.issues ?? issues ?? [] };
  const { document, config } = parsed;
  const inline = config.panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const own = inline === -1 ? [] : [{ file, shown: file, place: `${file}: panels[${inline}].api_key` }];
  const named = config.panels.flatMap((_, index) => [
    ['panels', index, 'api_key_file'],
    ['panels', index, 'nodes', 'api_key_file'],
    ['panels', index, 'tls_config', 'key_file'],
  ]);
  return { ok: true, config, secretFiles: [...own, ...secretFiles(file, document, named)] };
}

/**
 * Loads in a thread, for a reload: 10,000 servers take about 400 ms, in which every socket and
 * scrape would wait. An unchanged server is the same object as before, so nothing has to compare it
 * again. `program` is the thread's file.
 *
 * @throws Error if the thread can't do its work
 */
export async function loadInThread(
  file: string,
  env: Environment,
  running?: Config,
  program = new URL('parse-worker.js', DIST_URL),
): Promise<LoadResult> {
  const worker = new Worker(program, {
    name: 'configuration',
    workerData: [file, { ...env }],
    execArgv: [],
    env: {},
  });
  // An error in the thread rejects both promises. A thread that ends silently only emits `exit`.
  const exited = once(worker, 'exit').then(([code]) => Promise.reject(new Error(`exit code ${code}`)));
  const read = async (message: Promise<unknown[]>) => {
    const [disclosed] = (await Promise.race([message, exited])) as [string | undefined];
    return disclosed === undefined ? undefined : readDisclosed(disclosed);
  };
  try {
    const loaded = (await read(once(worker, 'message'))) as LoadResult;
    const known = knownServers(running);
    for (;;) {
      const message = once(worker, 'message');
      // The thread waits for each request, so that the event loop can work between two parts.
      worker.postMessage('next', []);
      const part = (await read(message)) as ServersPart | undefined;
      if (part === undefined || !loaded.ok) return loaded;
      const [panel, servers] = part;
      loaded.config.panels[panel]?.servers.push(...servers.map(known));
    }
  } catch (cause) {
    throw new Error('the thread that parses the configuration exited before it was done', { cause });
  }
}

/** Returns the object of the running configuration for an unchanged server, else the given one. */
function knownServers(running: Config | undefined): (server: ServerTarget) => ServerTarget {
  const servers = running?.panels.flatMap((panel) => panel.servers) ?? [];
  const serverKey = ({ panel, id }: ServerTarget) => `${id} ${panel}`;
  const byKey = new Map(servers.map((server) => [serverKey(server), server]));
  return (server) => {
    const known = byKey.get(serverKey(server));
    return known !== undefined && isDeepStrictEqual(known, server) ? known : server;
  };
}
