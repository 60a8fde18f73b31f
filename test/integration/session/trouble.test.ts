import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import type { RestFault, ServerSpec } from '../../../src/simulator/schema.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../../support/exporter.ts';

const SERVERS: readonly ServerSpec[] = [
  { name: 'survival', profile: 'steady' },
  { name: 'creative', profile: 'steady' },
  { name: 'valheim', profile: 'idle' },
  { name: 'lobby', profile: 'idle' },
];
const SURVIVAL = { server: 'survival' };
const PANEL = { panel: 'main' };

let panel: Simulator;
let exporter: ExporterUnderTest;
let stops: (() => Promise<void>)[];

beforeEach(() => {
  stops = [];
});

afterEach(async () => {
  await Promise.all(stops.map((stop) => stop()));
});

/** Fast enough that a slow retry after five minutes fits into a test. */
const FAST = 300;

async function startPanel(options: SimulatorOptions = {}): Promise<void> {
  panel = await startSimulator({ servers: SERVERS, clock: fastClock(), ...options });
  stops.push(() => panel.stop());
}

async function observe(
  clock = fastClock(),
  settings: readonly string[] = [],
  yaml = configFor(panel, settings),
): Promise<void> {
  exporter = await startExporter({ yaml, clock });
  stops.push(() => exporter.stop());
}

/** The server list would report a conflict too, but here a server's own calls must encounter it. */
const UNLISTED = ['limits_from_listing: false'];

const streaming = (labels: typeof SURVIVAL) => exporter.until('gameserver_collection_streaming', labels, 1);
const callsTo = (endpoint: string, name = 'survival') =>
  panel.record.calls.filter((call) => call.endpoint === endpoint && call.server === panel.server(name).uuid);
const until = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 });
const logged = (part: string) => exporter.lines.filter((line) => line.message.includes(part));
const warnings = () => exporter.lines.filter(({ level }) => level === 'warn' || level === 'error');
const messages = (part: string) => exporter.lines.filter((line) => JSON.stringify(line).includes(part));

const WAIT_OPTIONS = { timeout: 15_000, interval: 20 };

/** A server's condition and its problem, as in the JSON API. */
async function problemOf(name = 'survival'): Promise<object | undefined> {
  const answer = await fetch(`${exporter.url}/api/v1/servers`);
  const { servers } = (await answer.json()) as {
    servers: { server: string; condition: string; cause?: string; trouble?: string }[];
  };
  const { condition, cause, trouble } = servers.find(({ server }) => server === name) ?? {};
  return { condition, cause, trouble };
}

/** The sockets of the other servers were opened once and are still open. */
async function expectOthersUntouched(): Promise<void> {
  for (const name of ['creative', 'valheim', 'lobby']) {
    await streaming({ server: name });
    expect(panel.record.sockets(panel.server(name).uuid).opened).toBe(1);
  }
}

describe('a refusal for one server', () => {
  it.each([
    ['suspended', 'suspended'],
    ['installing', 'installing'],
    ['restoring_backup', 'restoring'],
    ['transferring', 'transferring'],
    ['maintenance', 'maintenance'],
  ] as const)('with 409 for %s blocks it as %s', async (conflict, reason) => {
    await startPanel();
    panel.setConflict('survival', conflict);
    await observe(fastClock(), UNLISTED);
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason }, 1);
    await expectOthersUntouched();
    expect(callsTo('websocket').length).toBe(1);
  });

  it('is retried after a minute and then every five, and the server resumes by itself', async () => {
    await startPanel({ clock: fastClock(FAST) });
    panel.setConflict('survival', 'installing');
    await observe(fastClock(FAST), UNLISTED);
    await until(() => expect(callsTo('websocket').length).toBe(3));
    const [first, second, third] = callsTo('websocket').map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(50_000);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThan(290_000);
    panel.setConflict('survival', undefined);
    await streaming(SURVIVAL);
    expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
  });

  it('with 404 blocks it as not_found: access may have been removed', async () => {
    await startPanel();
    panel.failRest({ kind: 'refuse', status: 404, server: 'survival' });
    await observe();
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'not_found' }, 1);
    expect(await exporter.value('gameserver_state', { ...SURVIVAL, state: 'unknown' })).toBe(1);
    await expectOthersUntouched();
  });

  it('with 403 for credentials only has it polled, not blocked', async () => {
    await startPanel();
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'websocket', server: 'survival' });
    await observe();
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
    await exporter.until('gameserver_exporter_servers', { ...PANEL, condition: 'polling' }, 1);
    expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(0);
  });

  it('with 403 for both endpoints blocks it as forbidden', async () => {
    await startPanel();
    panel.failRest({ kind: 'refuse', status: 403, server: 'survival' });
    await observe();
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'forbidden' }, 1);
    await expectOthersUntouched();
  });

  it("with 401 doesn't mean a rejected key", async () => {
    await startPanel();
    panel.failRest({ kind: 'refuse', status: 401, shape: 'message', server: 'survival' });
    await observe();
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'unauthorized' }, 1);
    await exporter.until('gameserver_panel_up', PANEL, 1);
    await expectOthersUntouched();
  });

  it("with 401 by the authentication doesn't block it or mean a rejected key", async () => {
    await startPanel();
    panel.failRest({ kind: 'refuse', status: 401, shape: 'errors', server: 'survival' });
    await observe();
    await vi.waitFor(
      async () => expect(await problemOf()).toMatchObject({ cause: 'key_refused' }),
      WAIT_OPTIONS,
    );
    await exporter.until('gameserver_panel_up', PANEL, 1);
    expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
    await expectOthersUntouched();
  });

  it.each([
    [
      'a challenge page with 403',
      { status: 403, body: '<html><head><title>Attention Required! | Cloudflare</title></head></html>' },
      'challenge_page',
    ],
    ["a proxy's page with 404", { status: 404, shape: 'html' }, 'not_a_panel'],
    ['a page without a title with 401', { status: 401, body: '<html></html>' }, 'login_page'],
  ] as const)(
    'such as %s means nothing for the server, and never blocks it',
    async (_what, answer, cause) => {
      await startPanel();
      panel.failRest({ kind: 'refuse', server: 'survival', ...answer });
      await observe();
      await vi.waitFor(async () => expect(await problemOf()).toMatchObject({ cause }), WAIT_OPTIONS);
      await until(() => expect(callsTo('websocket').length).toBeGreaterThanOrEqual(3));
      expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
      expect(warnings().filter(({ fields }) => 'server' in fields)).toEqual([]);
      panel.clearFaults();
      await streaming(SURVIVAL);
      await expectOthersUntouched();
    },
  );

  it('because of a suspension is information, while a refused upgrade is a warning with its cause', async () => {
    await startPanel();
    panel.suspend('survival');
    panel.failSockets({ kind: 'refuse-upgrade', status: 500, server: 'creative' });
    await observe();
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'suspended' }, 1);
    await until(() =>
      expect(warnings()).toEqual([
        expect.objectContaining({
          fields: expect.objectContaining({ server: 'creative', cause: 'upgrade_error' }) as object,
        }),
      ]),
    );
    expect(logged('server survival is blocked')).toMatchObject([
      { level: 'info', fields: { cause: 'suspended' } },
    ]);
  });

  it('because of a suspension ends its streaming until it is lifted', async () => {
    await startPanel({ clock: fastClock(FAST) });
    await observe(fastClock(FAST));
    await streaming(SURVIVAL);
    panel.suspend('survival');
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'suspended' }, 1);
    panel.unsuspend('survival');
    await streaming(SURVIVAL);
  });

  it('because of a deletion while it streams ends as not_found', async () => {
    await startPanel();
    await observe();
    await streaming(SURVIVAL);
    panel.deleteServer('survival');
    await exporter.until('gameserver_blocked', { ...SURVIVAL, reason: 'not_found' }, 1);
    await expectOthersUntouched();
  });
});

describe('a faulty response of the panel, for one server', () => {
  const faults: readonly [string, RestFault][] = [
    ...(['errors', 'message', 'html'] as const).map(
      (shape) =>
        [`500 as ${shape}`, { kind: 'refuse', status: 500, shape, server: 'survival', times: 1 }] as [
          string,
          RestFault,
        ],
    ),
    ['400', { kind: 'refuse', status: 400, server: 'survival', times: 1 }],
    ["a dead node's 504", { kind: 'refuse', status: 504, shape: 'errors', server: 'survival', times: 1 }],
    ['a body that is not JSON', { kind: 'garbage', server: 'survival', times: 1 }],
    ['an endless body', { kind: 'oversize', server: 'survival', times: 1 }],
    ['a redirect', { kind: 'redirect', server: 'survival', times: 1 }],
    ['a dropped connection', { kind: 'drop', server: 'survival', times: 1 }],
  ];
  it.each(faults)('is retried if it is %s', async (_what, fault) => {
    await startPanel();
    panel.failRest({ ...fault, endpoint: 'websocket' });
    await observe();
    await streaming(SURVIVAL);
    expect(callsTo('websocket').length).toBe(2);
    await expectOthersUntouched();
  });

  it("is the node's silence if resources time out, and means nothing for the panel", async () => {
    await startPanel();
    panel.failRest({ kind: 'hang', endpoint: 'resources', server: 'survival' });
    await observe(
      fastClock(),
      [],
      configFor(panel).replace('name: "survival"', 'name: "survival", mode: poll'),
    );
    await vi.waitFor(
      async () =>
        expect(await problemOf()).toEqual({
          condition: 'failing',
          cause: 'node_silent',
          trouble: expect.stringMatching(/\/resources: no response from .* within \d+ s$/) as string,
        }),
      WAIT_OPTIONS,
    );
    expect(await exporter.value('gameserver_panel_up', PANEL)).toBe(1);
    await expectOthersUntouched();
  });

  it('with the state "missing" is no data, never zeros', async () => {
    await startPanel({ unreachable: 'missing' });
    panel.setNodeDown('survival', true);
    await observe();
    await until(() => expect(callsTo('resources').length).toBeGreaterThanOrEqual(3));
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(0);
    expect(await exporter.value('gameserver_memory_usage_bytes', SURVIVAL)).toBeUndefined();
    panel.setNodeDown('survival', false);
    await streaming(SURVIVAL);
  });
});

describe('a problem of the whole panel', () => {
  it('with a rejected key is reported as down, blocks no server, is logged once, tried ever more rarely, and ends', async () => {
    await startPanel({ clock: fastClock(FAST) });
    panel.revokeKey(panel.apiKey);
    await observe(fastClock(FAST));
    await exporter.until('gameserver_panel_up', PANEL, 0);
    await exporter.until('gameserver_exporter_servers', { ...PANEL, condition: 'failing' }, SERVERS.length);
    for (const { name } of SERVERS) {
      expect(await exporter.value('gameserver_blocked', { server: name })).toBeUndefined();
      expect(await problemOf(name)).toEqual({
        condition: 'failing',
        cause: 'key_refused',
        trouble: expect.stringContaining('returned 401: "Unauthenticated."') as string,
      });
    }
    const before = panel.record.calls.length;
    // A trial is a call of each kind.
    await until(() => expect(panel.record.calls.length).toBeGreaterThanOrEqual(before + 10));
    const calls = panel.record.calls.slice(before).map(({ at }) => at);
    const gaps = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    expect(Math.max(...gaps)).toBeGreaterThan(50_000);
    expect(warnings()).toMatchObject([
      {
        level: 'error',
        fields: { cause: 'key_refused' },
        message: expect.stringContaining(CAUSES.key_refused.remedy) as string,
      },
    ]);
    panel.acceptKey(panel.apiKey);
    await streaming(SURVIVAL);
    await exporter.until('gameserver_panel_up', PANEL, 1);
    expect(await exporter.value('gameserver_blocked', SURVIVAL)).toBeUndefined();
  });

  it("at the start doesn't prevent scrapes, and servers start streaming by themselves when it ends", async () => {
    await startPanel();
    await panel.stopListening();
    await observe();
    expect(await exporter.value('gameserver_panel_up', PANEL)).toBe(0);
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(0);
    await until(() =>
      expect(warnings()).toMatchObject([
        {
          level: 'error',
          fields: { cause: 'connection' },
          message: expect.stringContaining('ECONNREFUSED') as string,
        },
      ]),
    );
    await panel.startListening();
    for (const { name } of SERVERS) await streaming({ server: name });
    expect(await exporter.value('gameserver_panel_up', PANEL)).toBe(1);
  });

  it("doesn't affect open sockets", async () => {
    await startPanel();
    await observe();
    for (const { name } of SERVERS) await streaming({ server: name });
    panel.failRest({ kind: 'refuse', status: 502, shape: 'html' });
    for (const name of ['survival', 'creative', 'valheim']) {
      panel.sockets({ kind: 'send', server: name, event: 'token expiring' });
    }
    await exporter.until('gameserver_panel_up', PANEL, 0);
    for (const { name } of SERVERS) {
      expect(await exporter.value('gameserver_collection_streaming', { server: name })).toBe(1);
      expect(await exporter.value('gameserver_collection_up', { server: name })).toBe(1);
    }
    panel.clearFaults();
    await exporter.until('gameserver_panel_up', PANEL, 1);
  });

  it('with 429 pauses all calls for as long as the panel requires, without losing any', async () => {
    await startPanel();
    panel.failRest({
      kind: 'refuse',
      status: 429,
      endpoint: 'listing',
      headers: { 'X-RateLimit-Limit': '240', 'Retry-After': '30' },
      times: 1,
    });
    await observe();
    await exporter.until('gameserver_exporter_api_budget_paused', PANEL, 1);
    for (const { name } of SERVERS) await streaming({ server: name });
    expect(messages('rate limit exceeded')).toHaveLength(1);
  });
});

describe('an invalid or unknown frame', () => {
  async function streamingOnce(): Promise<void> {
    await startPanel();
    await observe();
    await streaming(SURVIVAL);
    await exporter.until('gameserver_collection_up', SURVIVAL, 1);
  }
  const bad = (kind: string) => exporter.value('gameserver_exporter_bad_messages_total', { kind });
  const stats = (payload: string) => JSON.stringify({ event: 'stats', args: [payload] });

  it.each([
    ["text that isn't JSON", 'hello', 'not_json'],
    ["JSON that isn't a message", '[1,2]', 'bad_shape'],
    ["stats that aren't JSON", stats('{"memory_bytes":'), 'not_json'],
    ['a field that is text', stats('{"state":"running","cpu_absolute":"12"}'), 'bad_field'],
  ])('is counted and survived: %s', async (_what, text, kind) => {
    await streamingOnce();
    panel.sockets({ kind: 'raw', server: 'survival', text });
    await until(() => expect(panel.record.sockets(panel.server('survival').uuid).opened).toBe(1));
    await vi.waitFor(async () => expect(await bad(kind)).toBe(1), { timeout: 5_000 });
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(1);
    expect(await exporter.scrape()).not.toMatch(/^gameserver_.*NaN/im);
  });

  it('is counted and survived if it is binary', async () => {
    await streamingOnce();
    panel.sockets({ kind: 'binary', server: 'survival', base64: 'AAEC' });
    await vi.waitFor(async () => expect(await bad('binary')).toBe(1), { timeout: 5_000 });
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(1);
  });

  it('of over 1 MiB closes the socket, which is reopened', async () => {
    await streamingOnce();
    panel.sockets({ kind: 'oversize', server: 'survival' });
    await vi.waitFor(async () => expect(await bad('oversize')).toBe(1), { timeout: 5_000 });
    await until(() => expect(panel.record.sockets(panel.server('survival').uuid).opened).toBe(2));
    await streaming(SURVIVAL);
    await expectOthersUntouched();
  });

  it('with an unknown event is counted as other', async () => {
    await streamingOnce();
    panel.sockets({ kind: 'send', server: 'survival', event: 'feature match', args: ['eula'] });
    panel.sockets({ kind: 'send', server: 'survival', event: 'something new' });
    await exporter.until('gameserver_exporter_messages_total', { event: 'other' }, 1);
    expect(await exporter.value('gameserver_collection_streaming', SURVIVAL)).toBe(1);
  });

  it("in a flood of console lines is counted, never parsed, and doesn't disturb the samples", async () => {
    await streamingOnce();
    const line = JSON.stringify({ event: 'console output', args: ['\u001b[31m[12:00:00] flood'.repeat(5)] });
    for (let sent = 0; sent < 5_000; sent += 1)
      panel.sockets({ kind: 'raw', server: 'survival', text: line });
    await vi.waitFor(
      async () =>
        expect(await exporter.value('gameserver_console_lines_total', SURVIVAL)).toBeGreaterThanOrEqual(
          5_000,
        ),
      { timeout: 10_000 },
    );
    expect(await exporter.value('gameserver_collection_up', SURVIVAL)).toBe(1);
    await expectOthersUntouched();
  });
});

describe('the exporter sends', () => {
  it('only auth and "send stats", and nothing that could change a server', async () => {
    await startPanel({ tokenLifetimeSeconds: 60 });
    await observe();
    panel.power('survival', 'kill');
    await until(() => {
      const events = new Set(panel.record.frames.map(({ event }) => event));
      expect(events).toEqual(new Set(['auth', 'send stats']));
    });
    const methods = new Set(panel.record.calls.map(({ method }) => method));
    expect(methods).toEqual(new Set(['GET']));
    expect(panel.record.counters).toMatchObject({ wouldHaveCrashed: 0, oversizeFrames: 0 });
  });
});

describe('a stop', () => {
  it('closes every socket with 1000', async () => {
    await startPanel();
    await observe();
    for (const { name } of SERVERS) await streaming({ server: name });
    await exporter.stop();
    await until(() => expect(panel.record.openSockets).toBe(0));
    for (const { uuid } of panel.servers) expect(panel.record.sockets(uuid).lastCloseCode).toBe(1000);
  });

  it.each([
    ['calls hang', (): void => panel.failRest({ kind: 'hang' })],
    ['upgrades hang', (): void => panel.failSockets({ kind: 'hang-upgrade' })],
    ['auth gets no response', (): void => panel.failSockets({ kind: 'ignore-auth' })],
    ['the panel is down', (): void => void panel.stopListening()],
    ['sockets are half open', (): void => panel.failSockets({ kind: 'half-open-on-open' })],
  ])(
    'succeeds while %s',
    async (_what, arrange) => {
      await startPanel();
      arrange();
      await observe();
      await until(() => expect(panel.record.calls.length + exporter.lines.length).toBeGreaterThan(0));
      await exporter.stop();
    },
    10_000,
  );
});
