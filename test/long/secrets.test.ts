import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { FastClock } from '../../src/simulator/fast-clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { acceleratedNode } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { pageData } from '../support/page-data.ts';
import { configFile, endPrograms, runProgram, type ServedProgram, serveProgram } from '../support/program.ts';
import {
  API_KEYS,
  addFaults,
  configuration,
  HEALTHY,
  INLINE_KEY,
  REVOKED,
  SERVERS,
  strike,
  TROUBLED,
  VARIABLE_KEY,
} from './every-fault.ts';

/** The keys, the proxy's password, and the common start of every JWT. */
const SECRET = /TopSecret|eyJ/;

/**
 * How much faster than real time the panel and the exporter run, in separate processes. At twice this speed a busy machine is
 * sometimes too slow for their deadlines.
 */
const SPEED = 8;

/** Maximum milliseconds, on the run's fast clock, between two tries of a blocked server. */
const SLOW_RETRY_MS = 330_000;

const WARN: ReadonlySet<string> = new Set(['warn', 'error']);

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly panel?: string;
  readonly server?: string;
  readonly condition?: string;
}

let panel: Simulator;
let exporter: ServedProgram;
let yaml: string;
/** What the exporter printed until the whole panel became unreachable. */
let printedBeforeOutage: string;
/** Every page and every exposition that it served, during the faults and at the end. */
let pages: readonly string[] = [];

/** Minutes of an exporter's life with all faults, from its start to its end. */
beforeAll(async () => {
  const clock = new FastClock(SPEED);
  panel = await startSimulator({
    servers: SERVERS,
    clock,
    apiKeys: API_KEYS,
    rateLimitPerMinute: 1_000_000,
    tokenLifetimeSeconds: 120,
    statsIntervalMs: 5_000,
  });
  addFaults(panel);
  yaml = configuration(panel);
  exporter = await serveProgram({
    yaml,
    flags: ['--log.level', 'debug'],
    env: { VARIABLE_KEY },
    nodeFlags: acceleratedNode(SPEED, Math.round(clock.toUnixMs(0))),
  });
  const startedAt = clock.now();
  await streaming([...HEALTHY, ...REVOKED]);
  strike(panel);
  await exporter.until('gameserver_panel_up', { panel: 'revoked' }, [0]);
  await keepPages();
  await eventually(() => expect(clock.now() - startedAt).toBeGreaterThan(SLOW_RETRY_MS));
  // A server that was blocked late is retried late.
  await eventually(() => expect(untouched()).toEqual([]));
  await keepPages();
  printedBeforeOutage = exporter.process.stderr;
  await panel.stopListening();
  await exporter.until('gameserver_panel_up', { panel: 'main' }, [0]);
  await panel.startListening();
  await streaming(HEALTHY);
  await keepPages();
  exporter.process.kill('SIGTERM');
  await exporter.process.ended;
}, 240_000);

afterAll(async () => {
  await endPrograms();
  await panel.stop();
});

async function streaming(servers: readonly string[]): Promise<void> {
  for (const server of servers) await exporter.until('gameserver_collection_streaming', { server }, [1]);
}

async function keepPages(): Promise<void> {
  const { url } = exporter;
  const answers = await Promise.all([
    pageData(url),
    ...['/metrics', '/api/v1/servers', '/api/v1/sd'].map(async (path) =>
      (await fetch(`${url}${path}`)).text(),
    ),
  ]);
  pages = [...pages, ...answers];
}

/** The lines that contain a secret, each truncated to what may be shown. */
function leaks(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => SECRET.test(line))
    .map((line) => line.slice(0, 400));
}

function linesOf(text: string): readonly Line[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** The number of calls for each of these servers. */
function callCounts(names: readonly string[]): readonly number[] {
  const counts = new Map<string | undefined, number>();
  for (const { server } of panel.record.calls) counts.set(server, (counts.get(server) ?? 0) + 1);
  return names.map((name) => counts.get(panel.server(name).uuid) ?? 0);
}

function untouched(): readonly string[] {
  const counts = callCounts(TROUBLED);
  return TROUBLED.filter((_, index) => (counts[index] ?? 0) < 2);
}

describe('a whole run with every fault', () => {
  it('encounters all of them, with new tokens issued all the time', () => {
    expect(untouched()).toEqual([]);
    const issued = panel.record.calls.filter(
      ({ endpoint, status }) => endpoint === 'websocket' && status === 200,
    );
    expect(issued.length).toBeGreaterThan(100);
    // The panel's echo of the header reached the log, where the key is redacted.
    expect(exporter.process.stderr).toContain('Authorization: Bearer <secret>');
    expect(pages.join('')).toContain('Authorization: Bearer <secret>');
  });

  it('issues tokens that the search would find', async () => {
    const url = `${panel.url}/api/client/servers/${panel.server('healthy-1').uuid}/websocket`;
    const headers = { accept: 'application/json', authorization: `Bearer ${INLINE_KEY}` };
    const { data } = (await (await fetch(url, { headers })).json()) as { data: { token: string } };
    expect(leaks(data.token)).toHaveLength(1);
  });

  it('prints no key, token or password', () => {
    expect(exporter.process.stdout).toBe('');
    expect(leaks(exporter.process.stderr)).toEqual([]);
  });

  it('shows none on a page or in the metrics', () => {
    const shown = pages.join('\n');
    for (const { name } of SERVERS) expect(shown.includes(`server="${name}"`), name).toBe(true);
    expect(leaks(shown)).toEqual([]);
  });

  it('has none in the output of check', async () => {
    const file = await configFile(yaml);
    const check = runProgram(['check', file], { env: { VARIABLE_KEY } });
    expect(await check.ended).toMatchObject({ code: 0 });
    expect(leaks(`${check.stdout}${check.stderr}`)).toEqual([]);
  });
});

/** The log's lines about each server's condition, without details. */
function conditionLines(text: string): ReadonlyMap<string, readonly string[]> {
  const linesByServer = new Map<string, string[]>();
  for (const { server, condition, level, msg } of linesOf(text)) {
    if (server === undefined || condition === undefined || level === 'debug') continue;
    linesByServer.set(server, [...(linesByServer.get(server) ?? []), msg]);
  }
  return linesByServer;
}

describe('the log of servers with lasting problems', () => {
  // These stream for a while, so their condition does change.
  const steady = TROUBLED.filter((name) => name !== 'silent' && name !== 'websocket-delay');

  it('has a line for each change, not one for each retry', () => {
    const linesByServer = conditionLines(printedBeforeOutage);
    const linesOfServer = (name: string) => linesByServer.get(name) ?? [];
    // Two: it can't be monitored, and it is polled. On a busy machine a poll may come too late, which is a change.
    const wordy = steady.filter((name) => linesOfServer(name).length > 2);
    expect(wordy.length, JSON.stringify(wordy.map(linesOfServer))).toBeLessThan(steady.length / 10);
    for (const name of wordy) expect(linesOfServer(name).length, name).toBeLessThanOrEqual(6);
    const retries = callCounts(steady).reduce((sum, count) => sum + count, 0);
    expect(retries).toBeGreaterThan(5 * steady.length);
  });

  it('has one line about a rejected key, none for each of its servers', () => {
    const lines = linesOf(printedBeforeOutage).filter(
      (line) => line.panel === 'revoked' && WARN.has(line.level),
    );
    expect(lines.filter(({ server }) => server !== undefined)).toEqual([]);
    // On a busy machine, a node may be silent for a while before the key is revoked.
    expect(lines.filter(({ msg }) => msg.includes('API key rejected'))).toHaveLength(1);
  });
});
