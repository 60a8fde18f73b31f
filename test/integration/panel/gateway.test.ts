import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPanelGateway, type PanelGateway } from '../../../src/panel/gateway.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { apiOptions, collectingTelemetry, KEY } from './panel-api.ts';
import {
  CREDENTIALS,
  envelope,
  json,
  page,
  RESOURCES,
  type ScriptedServer,
  scriptedServer,
} from './scripted-server.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const never = () => new AbortController().signal;
const refusal = json(401, envelope('Unauthenticated.'));
const healthy: Answer = (response, request) =>
  json(200, request.url?.endsWith('/websocket') ? CREDENTIALS : RESOURCES)(response, request);

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let telemetry: ReturnType<typeof collectingTelemetry>;
let panel: ScriptedServer;
let gateway: PanelGateway;
let answer: Answer;

function open(): PanelGateway {
  // The deadlines are far off, because the clock that they count on is moved by minutes.
  const options = apiOptions(panel.url, { clock, telemetry, requestTimeoutMs: 3_600_000 });
  return createPanelGateway({ ...options, log, panel: 'main', pinnedPerMinute: 6_000 });
}

beforeEach(async () => {
  clock = new ManualClock();
  log = collectingLogger();
  telemetry = collectingTelemetry();
  answer = healthy;
  panel = await scriptedServer((response, request) => answer(response, request));
  gateway = open();
});

afterEach(async () => {
  await gateway.close();
  await panel.close();
});

/** Lets the turns of the calls come until they have ended. */
async function ended<T>(...calls: Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  let isOver = false;
  const all = Promise.allSettled(calls).finally(() => {
    isOver = true;
  });
  await vi.waitFor(
    async () => {
      await clock.advance(10);
      expect(isOver).toBe(true);
    },
    { timeout: 5_000, interval: 2 },
  );
  return all;
}

const connect = (server: string, signal = never()) => gateway.credentials(server, 'connect', signal);
const paths = () => panel.requests.map((request) => request.url?.replace('/api/client/servers/', ''));

/** Makes three servers meet the trouble that the panel is in. */
async function meetTrouble(): Promise<void> {
  await ended(connect('a'), connect('b'), connect('c'));
}

describe('a panel that is well', () => {
  it('answers calls in the order of their kinds', async () => {
    const blocker = connect('first');
    const calls = [
      gateway.listing({ page: 1, perPage: 100 }, never()).catch(() => {}),
      gateway.resources('polled', never()),
      connect('connecting'),
      gateway.learn('learning', never()),
      gateway.credentials('refreshing', 'refresh', never()),
    ];
    expect(gateway.health).toBe('unknown');
    await ended<unknown>(blocker, ...calls);
    expect(paths()).toEqual([
      'first/websocket',
      'refreshing/websocket',
      'learning/resources',
      'connecting/websocket',
      'polled/resources',
      '/api/client?page=1&per_page=100&include=egg',
    ]);
    expect(gateway.health).toBe('up');
    expect(log.lines).toEqual([]);
  });

  it('is up when it refuses one server in its own words', async () => {
    answer = json(404, envelope('No such server.'));
    const changes: string[] = [];
    gateway.onHealthChange((health) => changes.push(health));
    await ended(connect('a'), connect('b'));
    expect(changes).toEqual(['up']);
  });

  it('teaches its limit by the resources endpoint', async () => {
    await gateway.close();
    answer = json(200, RESOURCES, { 'X-RateLimit-Limit': '240' });
    gateway = createPanelGateway({ ...apiOptions(panel.url, { clock }), log, panel: 'main' });
    const rates: number[] = [];
    gateway.onRateChange((perMinute) => rates.push(perMinute));
    await ended(gateway.learn('a', never()));
    expect(rates).toEqual([192]);
    expect(gateway.budget().limitPerMinute).toBe(192);
  });
});

describe('a panel that refuses the key', () => {
  it('is told once, with what to check, and asked once a minute', async () => {
    answer = refusal;
    const changes: [string, string | undefined][] = [];
    gateway.onHealthChange((health, error) => changes.push([health, error?.kind]));
    await meetTrouble();
    expect(gateway.health).toBe('refused');
    expect(changes).toEqual([['refused', 'unauthorized']]);
    const waiting = ['d', 'e', 'f'].map((server) => connect(server).catch(() => 'refused'));
    await clock.advance(59_000);
    expect(panel.requests).toHaveLength(3);
    for (const minute of [1, 2, 3]) {
      await clock.advance(1_000);
      await vi.waitFor(() => expect(panel.requests).toHaveLength(3 + minute));
      await expect(waiting[minute - 1]).resolves.toBe('refused');
      await clock.advance(59_000);
      expect(panel.requests).toHaveLength(3 + minute);
    }
    expect(log.lines).toHaveLength(1);
    const [line] = log.lines;
    expect(line).toMatchObject({
      level: 'error',
      fields: { panel: 'main', url: panel.url, trouble: 'refused' },
    });
    expect(line?.message).toContain(`panel main (${panel.url}) refuses the API key (401): check api_key`);
    expect(JSON.stringify(log.lines)).not.toContain(KEY);
  });

  it('is asked once a minute even if no server waits, and tells when it takes the key', async () => {
    answer = refusal;
    await meetTrouble();
    await clock.advance(60_000);
    await vi.waitFor(() => expect(panel.requests).toHaveLength(4));
    expect(paths().at(-1)).toBe('c/resources');
    await vi.waitFor(() => expect(telemetry.calls).toHaveLength(4));
    answer = healthy;
    const waiting = ['d', 'e'].map((server) => connect(server));
    await clock.advance(60_000);
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    const results = await ended(...waiting);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled']);
    expect(log.lines.map((line) => line.level)).toEqual(['error', 'info']);
    expect(log.lines[1]?.message).toContain('answers again');
  });

  it('is held to be in trouble by fewer servers where there are fewer', async () => {
    answer = refusal;
    gateway.setFleetSize(1);
    await ended(connect('a'));
    expect(gateway.health).toBe('refused');
  });

  it('lets a waiting call be withdrawn', async () => {
    answer = refusal;
    await meetTrouble();
    const controller = new AbortController();
    const waiting = connect('d', controller.signal);
    controller.abort(new Error('not wanted'));
    await expect(waiting).rejects.toThrow('not wanted');
  });
});

describe('a panel out of reach', () => {
  it('is told once and resumes by itself', async () => {
    answer = page(502);
    await meetTrouble();
    expect(gateway.health).toBe('unreachable');
    expect(log.lines[0]?.message).toMatch(/can't be reached.*answered 502/);
    answer = healthy;
    const waiting = connect('d');
    await clock.advance(60_000);
    await ended(waiting);
    expect(gateway.health).toBe('up');
    expect(log.lines).toHaveLength(2);
  });

  it('that comes back with the key refused is in the other trouble, after as many refusals', async () => {
    answer = (response) => response.destroy();
    await meetTrouble();
    expect(gateway.health).toBe('unreachable');
    answer = refusal;
    const calls = ['d', 'e', 'f', 'g'].map((server) => connect(server));
    let refused = 0;
    for (const call of calls) {
      call.catch(() => {
        refused += 1;
      });
    }
    await clock.advance(60_000);
    await vi.waitFor(
      async () => {
        // While a call is on its way no turn comes: the fourth would ask before the third has its answer.
        if (gateway.budget().queueLength === calls.length - refused) await clock.advance(10);
        expect(refused).toBe(3);
      },
      { timeout: 5_000, interval: 2 },
    );
    expect(gateway.health).toBe('refused');
    expect(panel.requests).toHaveLength(6);
    await Promise.all([gateway.close(), expect(calls[3]).rejects.toThrow('is stopping')]);
  });

  it('is not suspected for what a proxy says of single servers', async () => {
    answer = page(404);
    await meetTrouble();
    expect(gateway.health).toBe('unknown');
    expect(log.lines).toEqual([]);
  });
});

describe('close', () => {
  it('rejects what runs and what waits, in a pause, behind the breaker, or for its turn', async () => {
    answer = json(429, {}, { 'Retry-After': '600' });
    const paused = gateway.resources('a', never());
    await vi.waitFor(() => expect(gateway.budget().paused).toBe(true));
    const waiting = connect('b');
    const rejected = [paused, waiting].map((call) => expect(call).rejects.toThrow('is stopping'));
    await gateway.close();
    await Promise.all(rejected);
    await expect(connect('c')).rejects.toThrow('is stopping');
    expect(clock.pending).toBe(0);
  });

  it('drops a call that hangs, without a word about the panel', async () => {
    answer = () => {};
    gateway.setFleetSize(1);
    const hanging = connect('a');
    await vi.waitFor(() => expect(panel.requests).toHaveLength(1));
    await Promise.all([expect(hanging).rejects.toThrow('is stopping'), gateway.close()]);
    expect(log.lines).toEqual([]);
    expect(gateway.health).toBe('unknown');
  });
});

describe('credentials that are refused with 401', () => {
  const poll = (server: string) => gateway.resources(server, never());

  it('speak of a permission where another endpoint takes the key', async () => {
    await ended(poll('a'));
    answer = (response, request) =>
      request.url?.endsWith('/websocket') ? refusal(response, request) : healthy(response, request);
    await ended(connect('a'), connect('b'), connect('c'), connect('d'));
    await vi.waitFor(() => expect(paths().filter((path) => path?.endsWith('/resources'))).toHaveLength(2));
    expect(gateway.health).toBe('up');
    expect(log.lines).toEqual([]);
  });

  it('speak of a permission where they are for backups, whatever is known of the key', async () => {
    answer = (response, request) =>
      request.url?.includes('/backups') ? refusal(response, request) : healthy(response, request);
    const backups = (server: string) => gateway.backups(server, 1, never());
    await ended(backups('a'), backups('b'), backups('c'), backups('d'));
    await vi.waitFor(() => expect(paths().filter((path) => path?.endsWith('/resources'))).toHaveLength(1));
    expect(log.lines).toEqual([]);
    await ended(connect('a'));
    expect(gateway.health).toBe('up');
  });

  it('speak of the key where that is refused elsewhere too', async () => {
    await ended(poll('a'));
    answer = refusal;
    await ended(connect('a'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(paths().filter((path) => path?.endsWith('/resources'))).toHaveLength(2);
    });
    await ended(connect('b'), connect('c'));
    await vi.waitFor(() => expect(gateway.health).toBe('refused'));
  });
});
