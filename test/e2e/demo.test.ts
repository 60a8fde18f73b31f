import { afterEach, describe, expect, it } from 'vitest';
import { DEMO_SERVERS } from '../../src/simulator/profiles.ts';
import { Answerer } from '../support/game-answers.ts';
import { pageData } from '../support/page-data.ts';
import {
  configFile,
  endPrograms,
  metricsAt,
  runProgram,
  serveProgram,
  valuesIn,
} from '../support/program.ts';

const ANY_ADDRESS = ['--web.listen-address', '127.0.0.1:0'];
const ANY_PORTS = [...ANY_ADDRESS, '--panel-port', '0', '--control-port', '0'];

afterEach(endPrograms);

/** Calls the control API of a simulated panel. */
async function control(url: string, operation: string, body: object): Promise<void> {
  const response = await fetch(`${url}/${operation}`, { method: 'POST', body: JSON.stringify(body) });
  expect(response.status, await response.text()).toBe(200);
}

describe('demo', () => {
  it('shows a dozen servers, and ends after Ctrl-C', async () => {
    const demo = runProgram(['demo', ...ANY_PORTS]);
    const [, panelUrl] = await demo.printed(/simulated panel with 12 game servers runs at (http:\S+)/);
    const [, url = ''] = await demo.printed(/serves at +(http:\S+)/);
    await demo.printed(/Ctrl-C stops both/);
    expect(demo.stdout).toContain(`${url}/metrics   what Prometheus scrapes`);
    const listing = await fetch(`${panelUrl}/api/client`, { headers: { accept: 'application/json' } });
    expect(listing.status).toBe(401);
    expect(await pageData(url)).toContain('survival');

    const { scrape, until } = metricsAt(url);
    await until('gameserver_exporter_servers', { condition: 'streaming' }, [11]);
    await until('gameserver_blocked', { server: 'old-season', reason: 'suspended' }, [1]);
    await until('gameserver_state', { server: 'event-arena', state: 'offline' }, [1]);
    await until('gameserver_state', { server: 'survival', state: 'running' }, [1]);
    await until('gameserver_query_up', { server: 'survival' }, [1]);
    expect(valuesIn(await scrape(), 'gameserver_players_max', { server: 'survival' })).toEqual([40]);
    const families = await scrape();
    expect(valuesIn(families, 'gameserver_info')).toHaveLength(DEMO_SERVERS.length);
    expect(valuesIn(families, 'gameserver_blocked')).toEqual([1]);
    expect(valuesIn(families, 'gameserver_panel_up')).toEqual([1]);
    expect(valuesIn(families, 'gameserver_exporter_sockets', { state: 'streaming' })).toEqual([11]);

    demo.kill('SIGINT');
    expect(await demo.ended).toEqual({ code: 0, signal: null });
    // No warnings, except that on a busy machine some servers have already crashed. The suspended
    // one of the twelve servers is only logged as information.
    expect(demo.stderr.replace(/.*"event":"(?:crashed|gave_up)".*\n/g, '')).toBe('');
  });
});

it('demo is open at every address that it is told, and prints a command that crashes its servers', async () => {
  const everywhere = ['--web.listen-address', ':0', '--panel-port', '0', '--control-port', '0'];
  const demo = runProgram(['demo', ...everywhere, '--web.external-url', 'https://games.example.com/']);
  const [, panelUrl = ''] = await demo.printed(/runs at (http:\S+)/);
  const [, url = ''] = await demo.printed(/serves at +(http:\/\/localhost:\S+)/);
  const [, crash = '', server = '', body = ''] = await demo.printed(
    /curl -X POST (http:\/\/localhost:\S+\/(\w+)\/crash) -d '(.+)'/,
  );
  expect(new URL(panelUrl).hostname).toBe('127.0.0.1');
  const { scrape, until } = metricsAt(url.replace('localhost', '127.0.0.1'));
  expect(
    valuesIn(await scrape(), 'gameserver_exporter_web_info', { external_url: 'https://games.example.com' }),
  ).toEqual([1]);
  // A stop only counts if the socket has shown that the server runs.
  await until('gameserver_collection_streaming', { server }, [1]);
  const answer = await fetch(crash.replace('localhost', '127.0.0.1'), { method: 'POST', body });
  expect(answer.status).toBe(200);
  await until('gameserver_stops_total', { server, reason: 'crashed' }, [1]);
});

it.each([
  ['demo', '--control-port', [...ANY_ADDRESS, '--panel-port', '0']],
  ['demo', '--panel-port', [...ANY_ADDRESS, '--control-port', '0']],
  ['simulate', '--control-port', ANY_ADDRESS],
])('a port in use ends %s with one line that contains %s', async (command, flag, rest) => {
  await using occupant = await Answerer.tcp(() => {});
  const { port } = occupant;
  const program = runProgram([command, flag, String(port), ...rest]);
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.stdout).toBe('');
  expect(program.stderr).toBe(`error: port ${port} is already in use; choose another with ${flag}\n`);
});

it.each([
  ['nowhere.invalid:10399', 'unknown host'],
  ['192.0.2.1:10399', "this machine doesn't have this address"],
])('an address that this machine lacks ends simulate with one line: %s', async (address, problem) => {
  const program = runProgram(['simulate', '--web.listen-address', address, '--control-port', '0']);
  expect(await program.ended).toEqual({ code: 1, signal: null });
  expect(program.stderr).toBe(
    `error: cannot listen on ${address}: ${problem}; correct --web.listen-address\n`,
  );
});

describe('simulate', () => {
  it('prints a configuration that check accepts and serve streams from', async () => {
    const flags = ['--servers', '14', '--rate-limit', '6000'];
    const panel = runProgram(['simulate', ...ANY_ADDRESS, '--control-port', '0', ...flags]);
    await panel.printed(/name: "server-14"/);
    const [, controlUrl = ''] = /control endpoint: (\S+)/.exec(panel.stdout) ?? [];
    const file = await configFile(panel.stdout);
    const check = runProgram(['check', file]);
    expect(await check.ended).toMatchObject({ code: 0 });
    expect(check.stdout).toContain('servers        14: expect running ');

    const exporter = await serveProgram({ yaml: panel.stdout });
    await exporter.until('gameserver_exporter_servers', { condition: 'streaming' }, [13]);
    await exporter.until('gameserver_expected_running', { server: 'event-arena' }, [0]);
    await control(controlUrl, 'servers/lobby/suspend', {});
    await exporter.until('gameserver_blocked', { server: 'lobby', reason: 'suspended' }, [1]);

    panel.kill('SIGTERM');
    expect(await panel.ended).toEqual({ code: 0, signal: null });
    await exporter.until('gameserver_exporter_servers', { condition: 'streaming' }, [0]);
  });

  it('uses the given key, token lifetime and limit', async () => {
    const flags = ['--api-key', 'ptlc_a_key_of_my_own', '--token-lifetime', '77', '--rate-limit', '99'];
    const panel = runProgram(['simulate', ...ANY_ADDRESS, '--control-port', '0', '--servers', '1', ...flags]);
    await panel.printed(/api_key: "ptlc_a_key_of_my_own"/);
    const [, url = ''] = /simulated panel: (\S+)/.exec(panel.stdout) ?? [];
    const [, id = ''] = /- id: (\S+)/.exec(panel.stdout) ?? [];
    const headers = { accept: 'application/json', authorization: 'Bearer ptlc_a_key_of_my_own' };
    const listing = await fetch(`${url}/api/client`, { headers });
    expect(listing.headers.get('x-ratelimit-limit')).toBe('99');
    const credentials = await fetch(`${url}/api/client/servers/${id}/websocket`, { headers });
    const { data } = (await credentials.json()) as { data: { token: string } };
    const [, payload = ''] = data.token.split('.');
    const { exp, iat } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, number>;
    expect((exp ?? 0) - (iat ?? 0)).toBeCloseTo(77);
  });
});
