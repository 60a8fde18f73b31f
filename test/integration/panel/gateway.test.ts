import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { problemOf } from '../../../src/panel/errors.ts';
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
/** Explicit enough that no other call is needed to believe it. */
const refusal = json(
  403,
  envelope(
    'This IP address (203.0.113.7) does not have permission to access the API using these credentials.',
  ),
);
const unauthenticated = json(401, envelope('Unauthenticated.', 'AuthenticationException'));
/** The way some panels refuse an account that lacks a permission; a panel without a key does the same. */
const unauthorized = json(401, envelope('Unauthorized.'));
const forbidden = json(403, envelope('This action is unauthorized.'));
const challenge = page(403, 'Attention Required! | Cloudflare');
const PROBE = '/api/client?page=1&per_page=1&include=egg';
const LISTING = { object: 'list', data: [], meta: { pagination: { total_pages: 1 } } };
const isListing = ({ url = '' }: IncomingMessage) => url.startsWith('/api/client?');
const isCredentials = ({ url = '' }: IncomingMessage) => url.endsWith('/websocket');
const healthy: Answer = (response, request) => {
  const body = isListing(request) ? LISTING : isCredentials(request) ? CREDENTIALS : RESOURCES;
  json(200, body)(response, request);
};
/** Answers one path differently from the others. */
const except =
  (isPath: (request: IncomingMessage) => boolean, other: Answer, rest: Answer = healthy): Answer =>
  (response, request) =>
    (isPath(request) ? other : rest)(response, request);

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let telemetry: ReturnType<typeof collectingTelemetry>;
let panel: ScriptedServer;
let gateway: PanelGateway;
let answer: Answer;

function open(): PanelGateway {
  // The deadlines are long, because their clock is advanced by minutes.
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

/** Advances the clock until the calls have ended. */
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

/** Makes three servers meet the panel's current fault. */
async function failThreeServers(): Promise<void> {
  await ended(connect('a'), connect('b'), connect('c'));
}

describe('a healthy panel', () => {
  it('serves every kind of call, and calls of one kind by priority', async () => {
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
      'learning/resources',
      'polled/resources',
      '/api/client?page=1&per_page=100&include=egg',
      'refreshing/websocket',
      'connecting/websocket',
    ]);
    expect(gateway.health).toBe('up');
    expect(log.lines).toEqual([]);
  });

  it('stays up when it refuses one server with its own error', async () => {
    answer = except(isListing, healthy, json(404, envelope('No such server.')));
    const changes: string[] = [];
    gateway.onHealthChange(() => void changes.push(gateway.health));
    await ended(connect('a'), connect('b'));
    expect(changes).toEqual(['up']);
  });

  it('reports its limit in answers of the resources endpoint', async () => {
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

/** Waits until the panel has received and answered this many more calls. */
const answered = (count: number) => vi.waitFor(() => expect(telemetry.calls).toHaveLength(count), 5_000);

describe('a panel that rejects the key', () => {
  it('is reported once, with what to check, and retried once a minute', async () => {
    answer = refusal;
    const changes: [string, string | undefined][] = [];
    gateway.onHealthChange(() => changes.push([gateway.health, gateway.problem?.cause]));
    await failThreeServers();
    expect(gateway.health).toBe('down');
    expect(gateway.problems).toEqual([gateway.problem]);
    expect(changes).toEqual([['down', 'key_address']]);
    let over = 0;
    const waiting = ['d', 'e', 'f'].map((server) => connect(server).catch(() => (over += 1)));
    await clock.advance(59_000);
    expect(panel.requests).toHaveLength(3);
    for (const minute of [1, 2, 3]) {
      await clock.advance(1_000);
      await answered(3 + minute);
      expect(paths().at(-1)).toBe(PROBE);
      await clock.advance(59_000);
      expect(panel.requests).toHaveLength(3 + minute);
    }
    // Servers wait; the probe is sent in their place.
    expect(over).toBe(0);
    expect(log.lines).toHaveLength(1);
    const [line] = log.lines;
    expect(line).toMatchObject({
      level: 'error',
      fields: { panel: 'main', url: panel.url, cause: 'key_address' },
    });
    expect(line?.message).toContain(`panel main (${panel.url}): API key not allowed from this address: GET`);
    expect(line?.message).toContain('answered 403: "This IP address (203.0.113.7)');
    expect(line?.message).toContain('or create a key without allowed addresses. Retrying once a minute.');
    expect(JSON.stringify(log.lines)).not.toContain(KEY);
    await Promise.all([gateway.close(), ...waiting]);
  });

  it('is retried once a minute even if no server waits, and reported when it accepts the key', async () => {
    answer = refusal;
    await failThreeServers();
    await clock.advance(60_000);
    await answered(4);
    expect(paths().at(-1)).toBe(PROBE);
    answer = healthy;
    const relieved: boolean[] = [];
    gateway.onHealthChange((isRelieved) => relieved.push(isRelieved));
    const waiting = ['d', 'e'].map((server) => connect(server));
    await clock.advance(60_000);
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    expect(relieved).toEqual([true]);
    const results = await ended(...waiting);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'fulfilled']);
    expect(log.lines.map((line) => line.level)).toEqual(['error', 'info']);
    expect(log.lines[1]?.message).toContain('is available again');
  });

  it('is detected by fewer servers if the panel has fewer', async () => {
    answer = refusal;
    gateway.setFleetSize(1, ['a']);
    await ended(connect('a'));
    expect(gateway.health).toBe('down');
  });

  it('is detected by the failures of the only server that makes calls, among many', async () => {
    answer = refusal;
    gateway.setFleetSize(50, ['a']);
    for (let attempt = 0; attempt < 5; attempt += 1) await ended(connect('a'));
    await vi.waitFor(() => expect(gateway.problem?.cause).toBe('key_address'));
    expect(paths().at(-1)).toBe(PROBE);
  });

  it('lets a waiting call be aborted', async () => {
    answer = refusal;
    await failThreeServers();
    const controller = new AbortController();
    const waiting = connect('d', controller.signal);
    controller.abort(new Error('not wanted'));
    await expect(waiting).rejects.toThrow('not wanted');
  });
});

describe('a new key', () => {
  it('is tried at once, without the failures of the old one', async () => {
    answer = refusal;
    await failThreeServers();
    expect(gateway.health).toBe('down');
    answer = healthy;
    const waiting = connect('d');
    gateway.keyChanged();
    expect(gateway.health).toBe('unknown');
    expect(gateway.problems).toEqual([]);
    await ended(waiting);
    expect(gateway.health).toBe('up');
    expect(paths().slice(3)).toEqual(['d/websocket']);
  });

  it("isn't affected by calls that were sent with the old one", async () => {
    const held: (() => void)[] = [];
    answer = (response, request) => void held.push(() => refusal(response, request));
    gateway.setFleetSize(1, ['a']);
    const late = connect('a');
    await vi.waitFor(() => expect(held).toHaveLength(1));
    answer = healthy;
    gateway.keyChanged();
    for (const release of held) release();
    await ended(late);
    expect(gateway.health).toBe('unknown');
    expect(log.lines).toEqual([]);
    await ended(connect('a'));
    expect(gateway.health).toBe('up');
  });

  it("isn't affected by a probe that was sent with the old one, and is probed after its own failure", async () => {
    answer = refusal;
    await failThreeServers();
    const held: (() => void)[] = [];
    answer = (response, request) => void held.push(() => refusal(response, request));
    await clock.advance(60_000);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    gateway.keyChanged();
    answer = refusal;
    await failThreeServers();
    expect(gateway.health).toBe('down');
    await clock.advance(60_000);
    await vi.waitFor(() => expect(panel.requests).toHaveLength(8));
    expect(paths().at(-1)).toBe(PROBE);
  });
});

describe('an unreachable panel', () => {
  it('is reported once and resumes by itself', async () => {
    answer = (response) => response.destroy();
    await failThreeServers();
    expect(gateway.health).toBe('down');
    expect(log.lines[0]?.message).toMatch(/connecting to \S+ failed/);
    answer = healthy;
    const waiting = connect('d');
    await clock.advance(60_000);
    await ended(waiting);
    expect(gateway.health).toBe('up');
    expect(log.lines).toHaveLength(2);
  });

  it('behind a proxy is reported once another call has confirmed it', async () => {
    answer = page(502);
    await ended(connect('a'), connect('b'));
    expect(gateway.health).toBe('unknown');
    await ended(connect('c'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problem?.cause).toBe('panel_down');
    });
    // All known credentials endpoints just failed, so none is left for a second opinion.
    expect(paths().slice(3)).toEqual([PROBE]);
    expect(log.lines).toHaveLength(1);
    expect(log.lines[0]?.message).toMatch(/\): down: .*answered 502/);
  });

  it('that comes back with the key rejected changes its cause, without a second error', async () => {
    answer = (response) => response.destroy();
    await failThreeServers();
    answer = refusal;
    const calls = ['d', 'e', 'f', 'g'].map((server) => connect(server).catch(() => {}));
    await clock.advance(60_000);
    await vi.waitFor(() => expect(gateway.problem?.cause).toBe('key_address'));
    expect(panel.requests).toHaveLength(4);
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'warn']);
    await Promise.all([gateway.close(), ...calls]);
  });

  it('is never probed twice at once, however slow it is and however often it throttles the probe', async () => {
    answer = refusal;
    await failThreeServers();
    answer = json(429, {}, { 'Retry-After': '600' });
    await clock.advance(60_000);
    await answered(4);
    for (let minute = 0; minute < 8; minute += 1) await clock.advance(60_000);
    expect(gateway.budget().queueLength).toBe(1);
    answer = healthy;
    for (let minute = 0; minute < 3; minute += 1) await clock.advance(60_000);
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    expect(panel.requests).toHaveLength(5);
  });

  it("is not assumed because of a proxy's answers about single servers, while the listing answers", async () => {
    answer = except(isListing, healthy, page(404));
    await failThreeServers();
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.health).toBe('up');
    });
    expect(gateway.problem).toBeUndefined();
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { endpoint: 'websocket', cause: 'not_a_panel' } },
    ]);
  });
});

describe('a firewall that blocks one path', () => {
  it('leaves the panel up while credentials pass, and is shown as a further problem', async () => {
    answer = except(isListing, challenge);
    const listed = gateway.listing({ page: 1, perPage: 100 }, never()).catch(() => {});
    await ended<unknown>(listed, connect('a'));
    expect(gateway.health).toBe('up');
    expect(gateway.problem).toBeUndefined();
    expect(gateway.problems).toMatchObject([{ cause: 'challenge_page' }]);
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { endpoint: 'listing', cause: 'challenge_page' } },
    ]);
  });

  it('is probed again, even if nothing else reads the listing', async () => {
    answer = except(isListing, challenge);
    const listed = gateway.listing({ page: 1, perPage: 100 }, never()).catch(() => {});
    await ended<unknown>(listed, connect('a'));
    await clock.advance(300_000);
    await answered(3);
    answer = healthy;
    await clock.advance(300_000);
    await vi.waitFor(() => expect(gateway.problems).toEqual([]));
    expect(panel.requests).toHaveLength(4);
    expect(log.lines).toHaveLength(1);
    await clock.advance(900_000);
    expect(panel.requests).toHaveLength(4);
  });

  it('leaves the panel up while only credentials pass: they are requested before the panel is declared down', async () => {
    answer = except((request) => !isCredentials(request), challenge);
    await ended(connect('a'));
    await clock.advance(60_000);
    const poll = (server: string) => gateway.resources(server, never());
    await ended(poll('b'), poll('c'), poll('d'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problems).toHaveLength(2);
    });
    expect(paths().slice(4)).toEqual([PROBE, 'a/websocket']);
    expect(gateway.health).toBe('up');
    expect(log.lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
  });

  it('leaves the panel up while most credentials passed a moment ago, without requesting more', async () => {
    answer = except((request) => !isCredentials(request), challenge);
    await ended(connect('a'));
    for (const server of ['b', 'c', 'd']) await ended(gateway.resources(server, never()));
    await clock.advance(100);
    await vi.waitFor(() => expect(paths().slice(4)).toEqual([PROBE]));
    await clock.advance(29_000);
    expect(panel.requests).toHaveLength(5);
    expect(gateway.health).toBe('up');
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(10_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await vi.waitFor(() => expect(paths().at(-1)).toBe('a/websocket'));
    expect(gateway.health).toBe('up');
    // The server itself doesn't repeat the probe's request, because its own token was just issued.
    const [shared] = await ended(connect('a'));
    expect(shared?.status === 'fulfilled' && shared.value.lifetimeMs).toBeLessThan(600_000);
    expect(paths().filter((path) => path === 'a/websocket')).toHaveLength(2);
    await ended(connect('a'));
    expect(paths().filter((path) => path === 'a/websocket')).toHaveLength(3);
  });

  it('is distinguished from one server whose credentials fail for another reason by asking for another server', async () => {
    const ofB: Answer = (response, request) =>
      (request.url?.includes('/b/') ? json(500, envelope('Server Error')) : healthy)(response, request);
    answer = except((request) => !isCredentials(request), challenge, ofB);
    await ended(connect('a'), connect('b'));
    await clock.advance(60_000);
    for (const server of ['c', 'd']) await ended(gateway.resources(server, never()));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problems).toMatchObject([{ cause: 'challenge_page' }]);
    });
    expect(gateway.health).toBe('up');
    expect(paths().slice(4)).toEqual([PROBE, 'a/websocket']);
  });

  it('leaves the panel up while only the listing passes, and is shown as a further problem', async () => {
    answer = except(isCredentials, challenge);
    await failThreeServers();
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.health).toBe('up');
    });
    expect(gateway.problems).toMatchObject([{ cause: 'challenge_page' }]);
    answer = healthy;
    await ended(connect('a'));
    expect(gateway.problems).toEqual([]);
  });

  it('that blocked all paths and opens one ends the outage, whichever path it is', async () => {
    for (const passing of [isListing, isCredentials]) {
      answer = challenge;
      await ended(connect('a'), connect('b'), connect('c'));
      await vi.waitFor(async () => {
        await clock.advance(10_000);
        expect(gateway.health).toBe('down');
      });
      answer = except(passing, healthy, challenge);
      await clock.advance(60_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await clock.advance(60_000);
      await vi.waitFor(() => expect(gateway.health).toBe('up'));
    }
  });
});

describe('close', () => {
  it('rejects running and waiting calls during a pause, an outage, or in the queue', async () => {
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

  it('drops a call that hangs, without a conclusion about the panel', async () => {
    answer = () => {};
    gateway.setFleetSize(1, ['a']);
    const hanging = connect('a');
    await vi.waitFor(() => expect(panel.requests).toHaveLength(1));
    await Promise.all([expect(hanging).rejects.toThrow('is stopping'), gateway.close()]);
    expect(log.lines).toEqual([]);
    expect(gateway.health).toBe('unknown');
  });
});

describe('an optional listing', () => {
  const list = () => gateway.listing({ page: 1, perPage: 100 }, never(), { optional: true }).catch(() => {});

  it.each([
    ['401', unauthenticated],
    ['403', forbidden],
    ['404', json(404, envelope('Not found.'))],
    ['403 of a firewall', challenge],
    ['500', json(500, envelope('Server error.'))],
  ])('is no evidence against the panel when it is refused with %s', async (_what, refused) => {
    answer = except(isListing, refused);
    gateway.setFleetSize(1, ['a']);
    await ended(list(), list(), list());
    expect(gateway.health).toBe('unknown');
    await ended(connect('a'));
    await ended(list());
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it('is evidence for the panel when it can be read', async () => {
    gateway.setFleetSize(1, ['a']);
    await ended(list());
    expect(gateway.health).toBe('up');
  });

  it('decides about the panel if no server makes calls of its own', async () => {
    answer = unauthenticated;
    gateway.setFleetSize(0, []);
    await ended(list());
    expect(gateway.problem?.cause).toBe('key_refused');
  });

  it('is no evidence against a key that gets credentials: one server that got some is asked again', async () => {
    const isOfA = ({ url = '' }: IncomingMessage) => url.includes('/a/');
    gateway.setFleetSize(4, ['a', 'b', 'c', 'd']);
    answer = except(isListing, forbidden);
    await ended(connect('a'));
    await ended(list());
    await clock.advance(60_000);
    answer = except(isOfA, healthy, except(isListing, forbidden, unauthorized));
    await ended(connect('b'), connect('c'), connect('d'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(paths().slice(-2)).toEqual([PROBE, 'a/websocket']);
    });
    await ended(connect('a'));
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it("doesn't prevent the detection of a key that is rejected everywhere", async () => {
    gateway.setFleetSize(3, ['a', 'b', 'c']);
    answer = unauthenticated;
    await ended<unknown>(list(), connect('a'), connect('b'), connect('c'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problem?.cause).toBe('key_refused');
    });
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
  });
});

describe("a panel's own 404 to every path, because url has a wrong one", () => {
  const unknownPath = json(404, envelope('The requested resource could not be found on the server.'));
  const poll = (server: string) => gateway.resources(server, never());
  const list = (optional: boolean) => gateway.listing({ page: 1, perPage: 100 }, never(), { optional });
  const messages = (results: readonly PromiseSettledResult<unknown>[]) =>
    results.map((result) => (result.status === 'rejected' ? problemOf(result.reason).cause : 'answered'));

  beforeEach(() => {
    answer = unknownPath;
  });

  it.each<[string, readonly string[], () => readonly Promise<unknown>[]]>([
    ['the listing of a panel without known servers', [], () => [list(false)]],
    ['an optional listing of a panel without servers', [], () => [list(true)]],
    ['the only server', ['a'], () => [connect('a')]],
    ['a server that is polled', ['a', 'b', 'c', 'd'], () => [poll('a')]],
  ])(
    "is the panel's problem when it answers %s, and ends with the first success",
    async (_what, servers, ask) => {
      gateway.setFleetSize(servers.length, servers);
      expect(new Set(messages(await ended(...ask())))).toEqual(new Set(['not_a_panel']));
      expect(gateway.problems).toMatchObject([
        { cause: 'not_a_panel', detail: expect.stringContaining('404') },
      ]);
      expect(gateway.health).toBe('down');
      expect(log.lines).toMatchObject([{ level: 'error', fields: { cause: 'not_a_panel' } }]);
      answer = healthy;
      await clock.advance(60_000);
      await vi.waitFor(() => expect(gateway.health).toBe('up'));
      expect(gateway.problems).toEqual([]);
      expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
    },
  );

  it('blames none of many servers', async () => {
    const servers = ['a', 'b', 'c', 'd'];
    gateway.setFleetSize(servers.length, servers);
    const calls = Promise.allSettled(servers.map((server) => connect(server)));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problem?.cause).toBe('not_a_panel');
    });
    // Calls that were held back are made once the panel answers.
    answer = healthy;
    await clock.advance(60_000);
    const [results] = await ended(calls);
    const ends = results?.status === 'fulfilled' ? messages(results.value) : [];
    expect(ends).toContain('not_a_panel');
    expect(ends).toContain('answered');
    expect(ends).not.toContain('not_found');
  });

  it('is decided by the servers, not by a listing that may be hidden', async () => {
    answer = except(isListing, unknownPath);
    gateway.setFleetSize(1, ['a']);
    expect(messages(await ended(list(false)))).toEqual(['not_found']);
    expect(gateway.health).toBe('unknown');
    await ended(connect('a'));
    expect(messages(await ended(list(false)))).toEqual(['not_found']);
    expect(gateway.health).toBe('up');
    expect(log.lines).toEqual([]);
  });

  it("is a server's own problem if the listing answers", async () => {
    answer = except(isListing, healthy, unknownPath);
    gateway.setFleetSize(3, ['a', 'b', 'c']);
    expect(messages(await ended<unknown>(connect('a'), connect('b'), connect('c'), poll('a')))).toEqual(
      times(4, 'not_found'),
    );
    expect(paths().filter((path) => path === PROBE)).toHaveLength(1);
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it('is not counted as a problem of one path if many servers are deleted', async () => {
    const held: (() => void)[] = [];
    answer = except(isListing, healthy, (response, request) => {
      held.push(() => unknownPath(response, request));
      // All of them are answered before the probe.
      if (held.length === 4) for (const release of held) release();
    });
    gateway.setFleetSize(4, ['a', 'b', 'c', 'd']);
    const calls = ended(connect('a'), connect('b'), connect('c'), connect('d'));
    expect(messages(await calls)).toEqual(times(4, 'not_found'));
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toEqual([]);
    expect(log.lines).toEqual([]);
  });

  it("is a server's own problem if any call succeeded before", async () => {
    answer = except(({ url = '' }) => url.includes('/a/'), healthy, unknownPath);
    gateway.setFleetSize(4, ['a', 'b', 'c', 'd']);
    await ended(connect('a'));
    expect(messages(await ended(connect('b'), connect('c'), connect('d')))).toEqual(times(3, 'not_found'));
    expect(gateway.problem).toBeUndefined();
  });

  it('is judged again after the API key changed', async () => {
    answer = healthy;
    await ended(connect('a'));
    answer = unknownPath;
    gateway.keyChanged();
    expect(messages(await ended(connect('a')))).toEqual(['not_a_panel']);
  });

  it('is not waited for by a call that is no longer needed', async () => {
    const controller = new AbortController();
    answer = except(isListing, () => {}, unknownPath);
    const call = connect('a', controller.signal).catch((error: unknown) => error);
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(paths()).toContain(PROBE);
    });
    const reason = new Error('not needed');
    controller.abort(reason);
    expect(await call).toBe(reason);
  });
});

describe('credentials that are refused with 401', () => {
  it("by the authentication itself are one server's problem while the listing accepts the key", async () => {
    answer = (response, request) =>
      (request.url?.includes('/websocket') === true ? unauthenticated : healthy)(response, request);
    gateway.setFleetSize(1, ['a']);
    await ended(connect('a'));
    await clock.advance(1_000);
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    expect(gateway.problem).toBeUndefined();
  });

  const poll = (server: string) => gateway.resources(server, never());
  const probes = () => paths().filter((path) => path === PROBE);

  it('mean a missing permission if the listing accepts the key', async () => {
    await ended(poll('a'));
    answer = except(isCredentials, unauthorized);
    await ended(connect('a'), connect('b'), connect('c'), connect('d'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(telemetry.calls).toContain('listing 200');
    });
    expect(probes()).toHaveLength(1);
    expect(gateway.health).toBe('up');
    expect(gateway.problem).toBeUndefined();
    expect(log.lines).toEqual([]);
  });

  it('mean a missing permission for backups, whatever is known of the key', async () => {
    answer = except(({ url = '' }) => url.includes('/backups'), unauthorized);
    const backups = (server: string) => gateway.backups(server, 1, never());
    await ended(backups('a'), backups('b'), backups('c'), backups('d'));
    expect(gateway.problem).toBeUndefined();
    expect(probes()).toEqual([]);
    expect(log.lines).toEqual([]);
    await ended(connect('a'));
    expect(gateway.health).toBe('up');
  });

  it('mean a rejected key if it is rejected elsewhere too', async () => {
    await ended(poll('a'));
    answer = unauthorized;
    await ended(connect('a'), connect('b'), connect('c'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problem?.cause).toBe('key_refused');
    });
    expect(probes()).toHaveLength(1);
    expect(log.lines.map(({ level }) => level)).toEqual(['error']);
  });

  it('mean a rejected key if a panel without a listing refuses all of them', async () => {
    answer = except(isListing, json(404, envelope('Not found.')), unauthorized);
    await ended(connect('a'), connect('b'), connect('c'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.problem?.cause).toBe('key_refused');
    });
    // The listing doesn't exist, so only credentials can show that the key is accepted again.
    answer = except(isListing, json(404, envelope('Not found.')));
    await clock.advance(60_000);
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    expect(paths().at(-1)).toBe('a/websocket');
  });

  it('are requested again at once if the key was the problem and is accepted again', async () => {
    gateway.setFleetSize(3, ['a', 'b', 'c']);
    answer = unauthorized;
    await ended(connect('a'), connect('b'), connect('c'));
    await vi.waitFor(async () => {
      await clock.advance(10);
      expect(gateway.health).toBe('down');
    });
    answer = healthy;
    await clock.advance(60_000);
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    const again = await ended(connect('a'), connect('b'), connect('c'));
    expect(again.map(({ status }) => status)).toEqual(times(3, 'fulfilled'));
    expect(log.lines.map(({ level }) => level)).toEqual(['error', 'info']);
  });

  it('are investigated, even right after another investigation', async () => {
    answer = except(isCredentials, unauthorized);
    await ended(connect('a'), connect('b'), connect('c'));
    await vi.waitFor(() => expect(probes()).toHaveLength(1));
    await vi.waitFor(() => expect(gateway.health).toBe('up'));
    answer = unauthorized;
    await ended(connect('d'), connect('e'), connect('f'));
    expect(gateway.problem).toBeUndefined();
    await clock.advance(30_000);
    await vi.waitFor(() => expect(gateway.problem?.cause).toBe('key_refused'));
  });
});

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('an account without the console permission', () => {
  const FLEET = ['a', 'b', 'c', 'd'];
  const connectAll = () => ended(...FLEET.map((server) => connect(server)));
  const asked = () => paths().filter((path) => path?.endsWith('/websocket')).length;
  const warnings = () => log.lines.filter(({ level }) => level === 'warn');

  beforeEach(async () => {
    gateway.setFleetSize(FLEET.length, FLEET);
    answer = except(isCredentials, forbidden);
    await connectAll();
  });

  it('is reported once; one server is tried every five minutes, and the others are refused without a call', async () => {
    expect(gateway.health).toBe('up');
    expect(gateway.problem).toBeUndefined();
    expect(gateway.problems).toMatchObject([{ cause: 'key_console_permission' }]);
    expect(warnings()).toMatchObject([{ fields: { cause: 'key_console_permission' } }]);
    for (let minute = 1; minute <= 11; minute += 1) {
      await clock.advance(60_000);
      const results = await connectAll();
      expect(results.map(({ status }) => status)).toEqual(times(4, 'rejected'));
      expect(asked()).toBe(4 + Math.floor(minute / 5));
    }
    expect(warnings()).toHaveLength(1);
  });

  it('streams again at once when the permission is granted', async () => {
    const relieved: boolean[] = [];
    gateway.onHealthChange((isRelieved) => relieved.push(isRelieved));
    answer = healthy;
    await clock.advance(300_000);
    await ended(connect('b'));
    expect(relieved).toEqual([true]);
    expect(gateway.problems).toEqual([]);
    const results = await connectAll();
    expect(results.map(({ status }) => status)).toEqual(times(4, 'fulfilled'));
    expect(log.lines.at(-1)?.message).toContain('grants console access again');
  });

  it('lets a server that is added later try', async () => {
    gateway.setFleetSize(5, [...FLEET, 'e']);
    expect(gateway.problems).toMatchObject([{ cause: 'key_console_permission' }]);
    await ended(connect('e'));
    expect(asked()).toBe(5);
    await ended(connect('e'), connect('a'));
    expect(asked()).toBe(5);
    expect(warnings()).toHaveLength(1);
  });

  it("isn't assumed to have the permission because of a suspended server, or a limit", async () => {
    answer = except(isCredentials, json(409, envelope('This server is currently suspended.')));
    await clock.advance(300_000);
    await ended(connect('a'));
    answer = except(isCredentials, json(429, envelope('Too many.'), { 'X-RateLimit-Limit': '5' }));
    await clock.advance(300_000);
    await ended(connect('b'));
    expect(gateway.problems).toMatchObject([{ cause: 'key_console_permission' }]);
    expect(log.lines).toHaveLength(1);
  });

  it('is judged by the current servers, not by removed ones', async () => {
    gateway.setFleetSize(5, ['d', 'e', 'f', 'g', 'h']);
    expect(gateway.problems).toEqual([]);
    await ended(connect('e'));
    expect(gateway.problems).toEqual([]);
    await ended(connect('f'), connect('g'), connect('h'));
    expect(gateway.problems).toMatchObject([{ cause: 'key_console_permission' }]);
  });

  it('on all servers but one is no problem of the key', async () => {
    answer = except(
      ({ url = '' }) => isCredentials({ url } as IncomingMessage) && !url.includes('/d/'),
      forbidden,
    );
    gateway.keyChanged();
    await connectAll();
    await connectAll();
    expect(gateway.problems).toEqual([]);
    expect(asked()).toBe(12);
  });
});
