import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Account } from '../../../src/panel/account.ts';
import { Gateway, type PanelGateway } from '../../../src/panel/gateway.ts';
import { ACCOUNT_SHARED_ROW } from '../../faults/rows/budget.ts';
import { eventually } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { apiOptions, collectingTelemetry, KEY } from './panel-api.ts';
import {
  CREDENTIALS,
  envelope,
  json,
  RESOURCES,
  type ScriptedServer,
  scriptedServer,
} from './scripted-server.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const never = () => new AbortController().signal;
const CANARY = '/api/client?page=1&per_page=1&include=egg';
const LISTING = { object: 'list', data: [], meta: { pagination: { total_pages: 1 } } };
const isListing = ({ url = '' }: IncomingMessage) => url.startsWith('/api/client?');
const isCredentials = ({ url = '' }: IncomingMessage) => url.endsWith('/websocket');

/** Responds to every call with success and these headers. */
const healthy =
  (headers: Record<string, string> = {}): Answer =>
  (response, request) => {
    const body = isListing(request) ? LISTING : isCredentials(request) ? CREDENTIALS : RESOURCES;
    json(200, body, headers)(response, request);
  };

/** Responds to some paths in another way than to all others. */
const except =
  (isPath: (request: IncomingMessage) => boolean, other: Answer, rest: Answer = healthy()): Answer =>
  (response, request) =>
    (isPath(request) ? other : rest)(response, request);

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let telemetry: ReturnType<typeof collectingTelemetry>;
let panel: ScriptedServer;
let gateway: PanelGateway;
let answer: Answer;

function open(more: { readonly pinnedPerMinute?: number } = {}): PanelGateway {
  // Long deadlines, because the test advances their clock by minutes.
  const options = apiOptions(panel.url, { clock, telemetry, requestTimeoutMs: 3_600_000 });
  return new Gateway({ ...options, log, panel: 'main', ...more });
}

beforeEach(async () => {
  clock = new ManualClock();
  log = collectingLogger();
  telemetry = collectingTelemetry();
  answer = healthy();
  panel = await scriptedServer((response, request) => answer(response, request));
  gateway = open();
});

afterEach(async () => {
  await gateway.close();
  await panel.close();
});

/** Waits until the check passes, without advancing the clock. */
const until = (check: () => void) =>
  eventually(async () => {
    await clock.advance(0);
    check();
  });

const paths = () => panel.requests.map(({ url }) => url?.replace('/api/client/servers/', ''));
const asked = (path: string) => paths().filter((one) => one === path).length;

/** Requests a server's credentials, with a deadline. */
const connect = (id: string, deadline = clock.now(), signal = never()) =>
  gateway.credentials({ id }, { deadline }, signal);
const poll = (id: string, deadline = clock.now()) => gateway.resources({ id }, { deadline }, never());

describe('the first call to a panel', () => {
  it('requests one entry of the server list, and other calls wait for its response', async () => {
    const held: (() => void)[] = [];
    answer = except(isListing, (response, request) => {
      held.push(() => healthy()(response, request));
    });
    const call = connect('a');
    await until(() => expect(held).toHaveLength(1));
    expect(paths()).toEqual([CANARY]);
    expect(gateway.health).toBe('unknown');
    for (const release of held) release();
    await call;
    expect(paths()).toEqual([CANARY, 'a/websocket']);
    expect(gateway.health).toBe('up');
    expect(panel.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it('is waited for no longer than 3 s', async () => {
    answer = except(isListing, () => undefined);
    const call = connect('a');
    await until(() => expect(paths()).toEqual([CANARY]));
    await clock.advance(3_000);
    await call;
  });

  it('is repeated with a new key', async () => {
    await connect('a');
    gateway.keyChanged();
    await until(() => expect(asked(CANARY)).toBe(2));
  });
});

describe("calls of the key's account", () => {
  /**
   * Polls twice a minute for this many minutes. The panel counts these calls, and calls of other
   * programs.
   */
  async function pollFor(minutes: number, others: number): Promise<void> {
    for (let half = 0; half < minutes * 2; half += 1) {
      const used = half % 2 === 0 ? 1 : 2 + others;
      answer = healthy({ 'x-ratelimit-limit': '240', 'x-ratelimit-remaining': String(240 - used) });
      await poll('a');
      await clock.advance(30_000);
    }
  }

  const shared = () =>
    log.lines.filter(({ fields }) => 'cause' in fields && fields.cause === ACCOUNT_SHARED_ROW.cause);

  it.each([ACCOUNT_SHARED_ROW.name])('%s', async () => {
    await pollFor(9, 100);
    expect(gateway.problems.all).toEqual([]);
    await pollFor(4, 100);
    expect(gateway.problems.all).toMatchObject([{ cause: ACCOUNT_SHARED_ROW.cause }]);
    expect(shared()).toMatchObject([{ level: 'warn' }]);
    await pollFor(6, 0);
    expect(gateway.problems.all).toEqual([]);
    expect(shared()).toHaveLength(1);
    expect(log.lines.at(-1)?.message).toBe('panel main: only this exporter uses its account again');
  });

  it('are all explained while the exporter alone makes them', async () => {
    await pollFor(20, 0);
    expect(gateway.problems.all).toEqual([]);
  });
});

describe('another API key', () => {
  it('has the whole window of its account', async () => {
    await gateway.close();
    gateway = open({ pinnedPerMinute: 2 });
    await connect('a');
    const waiting = connect('b');
    await until(() => expect(gateway.budget().queueLength).toBe(1));
    expect(gateway.budget().usedLastMinute).toBe(2);
    gateway.keyChanged(new Account(clock, { pinnedPerMinute: 2 }));
    await waiting;
    expect(gateway.budget().usedLastMinute).toBeLessThanOrEqual(2);
  });

  it('of the same account waits for the calls that were made with the old one', async () => {
    await gateway.close();
    gateway = open({ pinnedPerMinute: 2 });
    await connect('a');
    void connect('b').catch(() => undefined);
    gateway.keyChanged();
    await until(() => expect(gateway.budget().queueLength).toBeGreaterThan(0));
    expect(panel.requests).toHaveLength(2);
  });
});

describe('a pause of a path that isn’t used any more', () => {
  it('is over when the panel said so', async () => {
    await connect('a');
    answer = except(
      ({ url = '' }) => url.includes('/backups'),
      json(429, envelope('x', 'slow down'), { 'retry-after': '30' }),
    );
    const gone = new AbortController();
    const backups = gateway.backups({ id: 'a' }, 1, clock.now(), gone.signal).catch(() => undefined);
    await until(() => expect(gateway.problems.all.map(({ cause }) => cause)).toEqual(['rate_limited']));
    gone.abort(new Error('backups are no longer read'));
    await backups;
    await clock.advance(60_000);
    expect(gateway.problems.all).toEqual([]);
    expect(gateway.budget().paused).toBe(false);
  });
});

describe('calls that wait', () => {
  it('start by their deadlines, whatever their kind', async () => {
    const free: (() => void)[] = [];
    answer = except(isListing, (response, request) => {
      free.push(() => healthy()(response, request));
    });
    const at = clock.now();
    const calls = [
      connect('late', at + 300_000),
      poll('polled', at + 30_000),
      gateway.listing({ page: 1, perPage: 100 }, at + 60_000, never()),
      connect('first', at - 600_000),
      gateway.backups({ id: 'kept' }, 1, at + 90_000, never()).catch(() => undefined),
    ];
    await until(() => expect(free).toHaveLength(1));
    answer = healthy();
    for (const release of free) release();
    await Promise.all(calls);
    expect(paths().slice(1)).toEqual([
      'first/websocket',
      'polled/resources',
      '/api/client?page=1&per_page=100&include=egg',
      'kept/backups?page=1&per_page=50',
      'late/websocket',
    ]);
  });

  it('are withdrawn by their signals', async () => {
    answer = () => undefined;
    const controller = new AbortController();
    const call = connect('a', 0, controller.signal);
    controller.abort(new Error('not wanted'));
    await expect(call).rejects.toThrow('not wanted');
    expect(gateway.budget().queueLength).toBe(0);
  });
});

describe('a 429', () => {
  const throttled = json(429, envelope('Too Many Attempts.'), {
    'X-RateLimit-Limit': '240',
    'Retry-After': '30',
  });

  it('pauses all calls for as long as it requires, is shown with its end, and is repeated', async () => {
    await connect('a');
    answer = throttled;
    const calls = [connect('b'), connect('c')];
    await until(() => expect(gateway.budget().paused).toBe(true));
    const endsAt = new Date(clock.toUnixMs(clock.now() + 30_000)).toISOString().slice(11, 19);
    expect(gateway.problems.all).toMatchObject([
      { cause: 'rate_limited', detail: `rate limit exceeded (429): no calls until ${endsAt} UTC` },
    ]);
    expect(gateway.health).toBe('up');
    expect(gateway.problems.ofPanel).toBeUndefined();
    await until(() => expect(telemetry.calls.filter((call) => call.endsWith(' 429'))).toHaveLength(2));
    answer = healthy();
    const made = panel.requests.length;
    await clock.advance(29_900);
    expect(panel.requests).toHaveLength(made);
    await clock.advance(100);
    await Promise.all(calls);
    expect(gateway.problems.all).toEqual([]);
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('to the first call is obeyed as well, and the call repeated by the next', async () => {
    answer = throttled;
    const call = connect('a');
    await until(() => expect(gateway.budget().paused).toBe(true));
    expect(gateway.problems.all).toMatchObject([{ cause: 'rate_limited' }]);
    answer = healthy();
    await clock.advance(29_000);
    expect(panel.requests).toHaveLength(1);
    await clock.advance(1_000);
    await call;
  });

  it("of one server's console pauses nothing, and fails that call", async () => {
    answer = except(isCredentials, json(429, envelope('Too Many Attempts.'), { 'X-RateLimit-Limit': '5' }));
    await expect(connect('a')).rejects.toMatchObject({ problem: { cause: 'console_limit' } });
    expect(gateway.budget().paused).toBe(false);
    await poll('b');
  });
});

describe('a challenge of Cloudflare with the status of a rate limit', () => {
  it('pauses nothing, and is the problem of the panel', async () => {
    answer = (response) => {
      response.writeHead(429, { 'Content-Type': 'text/html', 'cf-mitigated': 'challenge' });
      response.end('<title>Just a moment...</title>');
    };
    const call = connect('a').catch((error: unknown) => error);
    await eventually(async () => {
      await clock.advance(1_000);
      expect(gateway.problems.ofPanel).toMatchObject({ cause: 'challenge_page' });
    });
    expect(gateway.budget().paused).toBe(false);
    await gateway.close();
    expect(await call).toBeInstanceOf(Error);
  });
});

describe('close', () => {
  it('rejects running and waiting calls, even during a pause', async () => {
    await connect('a');
    answer = json(429, {}, { 'Retry-After': '600' });
    const paused = poll('b');
    await until(() => expect(gateway.budget().paused).toBe(true));
    const rejected = [paused, connect('c')].map((call) => expect(call).rejects.toThrow('is stopping'));
    await gateway.close();
    await Promise.all(rejected);
    await expect(connect('d')).rejects.toThrow('is stopping');
    expect(clock.pending).toBe(0);
  });

  it('drops a call that hangs, without a conclusion about the panel', async () => {
    answer = () => undefined;
    const hanging = connect('a');
    await until(() => expect(panel.requests).toHaveLength(1));
    await Promise.all([expect(hanging).rejects.toThrow('is stopping'), gateway.close()]);
    expect(log.lines).toEqual([]);
    expect(gateway.health).toBe('unknown');
  });
});
