import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { configFile, endPrograms, metricsAt, runProgram, valuesIn } from '../support/program.ts';

const NAMES = ['survival', 'lobby'] as const;
const SUCCESSFUL = 'gameserver_exporter_config_last_reload_successful';

let panel: Simulator;

beforeEach(async () => {
  const servers = NAMES.map((name) => ({ name, profile: 'steady' as const }));
  panel = await startSimulator({ servers, statsIntervalMs: 100 });
});

afterEach(async () => {
  await endPrograms();
  await panel.stop();
});

function yamlOf(names: readonly string[], level = 'info'): string {
  return [
    `log: { level: ${level} }`,
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    '    api_key_file: key',
    '    servers:',
    ...names.map((name) => `      - { id: "${panel.server(name).identifier}", name: ${name} }`),
  ].join('\n');
}

async function serve(flags: readonly string[] = []) {
  const file = await configFile(yamlOf(['survival']));
  await writeFile(join(dirname(file), 'key'), panel.apiKey);
  const listen = ['--web.listen-address', '127.0.0.1:0'];
  const program = runProgram(['serve', '--config', file, ...listen, ...flags]);
  const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
  const metrics = metricsAt(url);
  await metrics.until('gameserver_collection_up', { server: 'survival' }, [1]);
  return { file, program, ...metrics };
}

const opened = (name: string) => panel.record.sockets(panel.server(name).uuid).opened;

it('SIGHUP applies another configuration, and servers that stay keep their socket', async () => {
  const { file, program, until, scrape } = await serve();
  await writeFile(file, yamlOf(['lobby', 'survival'], 'debug'));
  program.kill('SIGHUP');
  await program.printed(/configuration reloaded: panels: 1 unchanged; servers: 1 added, 1 unchanged/);
  await until('gameserver_collection_up', { server: 'lobby' }, [1]);
  expect(NAMES.map(opened)).toEqual([1, 1]);
  expect(valuesIn(await scrape(), SUCCESSFUL)).toEqual([1]);
  // This line is only logged with the new configuration's level.
  program.kill('SIGHUP');
  await program.printed(/nothing changed/);
  await writeFile(file, yamlOf(['survival'], 'debug'));
  program.kill('SIGHUP');
  await program.printed(/"level":"debug",.*server lobby is stopped/);
  await until('gameserver_collection_up', {}, [1]);
});

it('POST /-/reload accepts the host of --web.external-url', async () => {
  const { url } = await serve([
    '--web.enable-lifecycle',
    '--web.external-url=https://metrics.example.com/game',
  ]);
  const statusFor = async (host: string) => {
    const sent = request(`${url}/-/reload`, { method: 'POST', headers: { Host: host } }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer.resume().statusCode;
  };
  expect(await statusFor('metrics.example.com')).toBe(200);
  expect(await statusFor('evil.example')).toBe(403);
});

it('SIGTERM right after SIGHUP stops the program cleanly', async () => {
  const { file, program } = await serve();
  await writeFile(file, yamlOf(['lobby']));
  program.kill('SIGHUP');
  program.kill('SIGTERM');
  expect(await program.ended).toEqual({ code: 0, signal: null });
});
