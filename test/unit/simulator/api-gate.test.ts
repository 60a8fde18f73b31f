import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { beforeEach, describe, expect, it } from 'vitest';
import { ApiGate, type CallTarget, pause } from '../../../src/simulator/api-gate.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import { Recorder } from '../../../src/simulator/recorder.ts';
import { json } from '../../../src/simulator/simulated-responses.ts';
import type { RestFault } from '../../../src/simulator/simulator-schema.ts';
import { initialSettings, type SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = 'ptlc_0123456789';
/** A key of the length that Calagopus requires. */
const CALAGOPUS_KEY = `c7s_${'0'.repeat(44)}`;
const CALAGOPUS: SettingsChange = { panel: 'calagopus', rateLimitPerMinute: 8 };
const RESOURCES: CallTarget = { endpoint: 'resources', server: 'one' };
const CREDENTIALS: CallTarget = { endpoint: 'websocket', server: 'one' };

let clock: ManualClock;
let faults: Faults;
let recorder: Recorder;
let stopped: AbortController;
/** Whether the connection of the last call was destroyed. */
let isDropped: boolean;

beforeEach(() => {
  clock = new ManualClock();
  faults = new Faults();
  recorder = new Recorder();
  stopped = new AbortController();
  isDropped = false;
});

/** A client's request. */
interface Sent {
  readonly key?: string;
  readonly accept?: string;
  readonly from?: string;
  readonly path?: string;
}

/** A panel with these settings. It responds with 200 to every call that its gate allows. */
function panel(changes: SettingsChange = {}) {
  const settings = initialSettings(changes);
  const keys = new Set([KEY, CALAGOPUS_KEY]);
  const gate = new ApiGate({ clock, settings, faults, recorder, keys, stopped: stopped.signal });
  const usual = settings.panel === 'calagopus' ? CALAGOPUS_KEY : KEY;
  return async (
    target = RESOURCES,
    { key = usual, accept = 'application/json', from = '192.0.2.1', path = '/' }: Sent = {},
  ) => {
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.all('*', (context) => gate.pass(context, target, () => Promise.resolve(json(200, { ok: true }))));
    const socket = { remoteAddress: from, destroy: () => void (isDropped = true) };
    const bindings = { incoming: { socket } } as unknown as HttpBindings;
    return app.request(path, { headers: { authorization: `Bearer ${key}`, accept } }, bindings);
  };
}

/** The status of a response, and its first error. */
async function shown(response: Promise<Response>) {
  const { status, body } = await response.then(async (one) => ({
    status: one.status,
    body: await one.text(),
  }));
  const { errors: [error] = [] } = (body === '' ? {} : JSON.parse(body)) as {
    readonly errors?: readonly (string | { readonly detail: string })[];
  };
  return [status, typeof error === 'object' ? error.detail : error];
}

describe('a call', () => {
  it.each<[string, SettingsChange, CallTarget, Sent, number, string | undefined]>([
    ['is passed', {}, RESOURCES, {}, 200, undefined],
    ['with an unknown key', {}, RESOURCES, { key: 'ptlc_other' }, 401, 'Unauthenticated.'],
    [
      'with the key of another API',
      {},
      RESOURCES,
      { key: 'ptla_0123456789' },
      403,
      'You are attempting to use an application API key on an endpoint that requires a client API key.',
    ],
    [
      'during maintenance',
      { maintenance: true },
      RESOURCES,
      { key: 'ptlc_other' },
      503,
      'Service Unavailable',
    ],
    [
      'without a second factor',
      { twoFactorRequired: true },
      RESOURCES,
      {},
      400,
      'Two-factor authentication is required on this account in order to access this endpoint.',
    ],
    [
      'without a second factor, about the account',
      { twoFactorRequired: true },
      { endpoint: 'account' },
      {},
      200,
      undefined,
    ],
    ['from an allowed address', { allowedAddresses: ['192.0.2.1'] }, RESOURCES, {}, 200, undefined],
    [
      'from another address',
      { allowedAddresses: ['192.0.2.1'] },
      RESOURCES,
      { from: '192.0.2.9' },
      403,
      'This IP address (192.0.2.9) does not have permission to access the API using these credentials.',
    ],
    ['with a malformed path', {}, RESOURCES, { path: '/%ff' }, 400, 'The request is malformed.'],
    ['of Calagopus', CALAGOPUS, RESOURCES, {}, 200, undefined],
    [
      'of Calagopus during maintenance',
      { ...CALAGOPUS, maintenance: true },
      RESOURCES,
      {},
      503,
      'internal server error',
    ],
    [
      'of Calagopus with a key of another length',
      CALAGOPUS,
      RESOURCES,
      { key: KEY },
      401,
      'invalid authorization header',
    ],
    [
      'of Calagopus with an unknown key',
      CALAGOPUS,
      RESOURCES,
      { key: CALAGOPUS_KEY.replace('0', '1') },
      401,
      'invalid api key',
    ],
    [
      'of Calagopus from an allowed address',
      { ...CALAGOPUS, allowedAddresses: ['192.0.2.1'] },
      RESOURCES,
      {},
      200,
      undefined,
    ],
    [
      'of Calagopus from another address',
      { ...CALAGOPUS, allowedAddresses: ['192.0.2.9'] },
      RESOURCES,
      {},
      403,
      'ip address not allowed for this api key',
    ],
    [
      'of Calagopus without a second factor',
      { ...CALAGOPUS, twoFactorRequired: true },
      RESOURCES,
      {},
      403,
      'two-factor authentication required',
    ],
    [
      'of Calagopus without a second factor, about the account',
      { ...CALAGOPUS, twoFactorRequired: true },
      { endpoint: 'account' },
      {},
      200,
      undefined,
    ],
  ])('%s', async (_what, settings, target, sent, status, error) => {
    expect(await shown(panel(settings)(target, sent))).toEqual([status, error]);
    expect(recorder.snapshot().calls).toMatchObject([{ ...target, at: clock.now(), method: 'GET', status }]);
  });

  it('of a browser without a session is sent to the login page', async () => {
    const response = await panel()(RESOURCES, { key: 'none', accept: 'text/html' });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/auth/login']);
  });
});

describe('the rate limit', () => {
  const limits = (response: Response) =>
    ['limit', 'remaining', 'reset'].map((name) => response.headers.get(`x-ratelimit-${name}`));

  it('counts the calls of a minute, and tells how many are left', async () => {
    const call = panel({ rateLimitPerMinute: 2 });
    const responses = [await call(), await call(), await call()];
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(responses.map(limits)).toEqual([
      ['2', '1', null],
      ['2', '0', null],
      ['2', '0', String(1_700_000_000 + 1_060)],
    ]);
    expect(responses[2]?.headers.get('retry-after')).toBe('60');
    expect(recorder.snapshot().counters).toMatchObject({ panelLimited: 1, websocketLimited: 0 });
    await clock.advance(60_000);
    expect((await call()).status).toBe(200);
  });

  it('does not count calls that are refused before', async () => {
    const call = panel({ rateLimitPerMinute: 1 });
    expect(limits(await call(RESOURCES, { key: 'none' }))).toEqual([null, null, null]);
    expect((await call()).status).toBe(200);
  });

  it('of credentials is that of each server, too', async () => {
    const call = panel({ websocketLimitPerMinute: 1 });
    const first = await call(CREDENTIALS);
    expect([first.status, limits(first)]).toEqual([200, ['1', '0', null]]);
    expect((await call(CREDENTIALS)).status).toBe(429);
    expect((await call({ ...CREDENTIALS, server: 'two' })).status).toBe(200);
    expect(limits(await call())).toEqual(['240', '236', null]);
    expect(recorder.snapshot().counters).toMatchObject({ panelLimited: 0, websocketLimited: 1 });
  });

  it('of credentials may be that of all calls only', async () => {
    const call = panel({ websocketLimitPerMinute: 0 });
    const responses = [await call(CREDENTIALS), await call(CREDENTIALS)];
    expect(responses.map(limits)).toEqual([
      ['240', '239', null],
      ['240', '238', null],
    ]);
  });

  it('of Calagopus counts refused calls, too, and is told only once it is reached', async () => {
    // The calls of half a minute, the last of which is rejected.
    const call = panel(CALAGOPUS);
    const responses = [];
    for (const key of ['none', 'none', CALAGOPUS_KEY, CALAGOPUS_KEY])
      responses.push(await call(RESOURCES, { key }));
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 200, 429]);
    expect(responses.map(limits)).toEqual([
      [null, null, null],
      [null, null, null],
      [null, null, null],
      ['4', '0', String(1_700_000_000 + 1_030)],
    ]);
    expect(await responses[3]?.json()).toEqual({ errors: ['you are ratelimited, retry in 30s'] });
  });
});

describe('a fault', () => {
  const fault = (one: RestFault, settings: SettingsChange = {}) => {
    faults.addRest(one);
    return panel(settings)();
  };

  it.each<[string, RestFault, SettingsChange, number, string, string | null]>([
    [
      'refuses the call',
      { kind: 'refuse', status: 404 },
      {},
      404,
      '{"errors":[{"code":"NotFoundHttpException","status":"404","detail":"The requested resource could not be found on the server."}]}',
      null,
    ],
    [
      'refuses it with other words',
      { kind: 'refuse', status: 404, detail: 'gone', code: 'X', headers: { 'retry-after': '7' } },
      {},
      404,
      '{"errors":[{"code":"X","status":"404","detail":"gone"}]}',
      '7',
    ],
    [
      'refuses it as Calagopus does',
      { kind: 'refuse', status: 404, detail: 'gone' },
      CALAGOPUS,
      404,
      '{"errors":["gone"]}',
      null,
    ],
    ['refuses it with a body', { kind: 'refuse', status: 404, body: 'gone' }, {}, 404, 'gone', null],
    ['ends the body early', { kind: 'garbage' }, {}, 200, '{"data":{"token":"eyJ0', null],
    ['changes the body', { kind: 'garbage', body: '[]' }, {}, 200, '[]', null],
    ['makes the body long', { kind: 'oversize', bytes: 3 }, {}, 200, '{"data":"xxx"}', null],
    ['redirects the call', { kind: 'redirect', location: '/elsewhere' }, {}, 302, '', null],
  ])('%s', async (_what, one, settings, status, body, retryAfter) => {
    const response = await fault(one, settings);
    expect([response.status, await response.text(), response.headers.get('retry-after')]).toEqual([
      status,
      body,
      retryAfter,
    ]);
    expect(recorder.snapshot().calls).toMatchObject([{ status }]);
  });

  it('drops the connection, which is recorded as no response', async () => {
    await fault({ kind: 'drop' });
    expect([isDropped, recorder.snapshot().calls[0]?.status]).toEqual([true, 0]);
  });

  it('delays the response', async () => {
    const response = fault({ kind: 'delay', ms: 500 });
    await clock.advance(499);
    expect(recorder.snapshot().calls[0]?.status).toBe(0);
    await clock.advance(1);
    expect((await response).status).toBe(200);
  });

  it('hangs until the panel stops', async () => {
    const response = fault({ kind: 'hang' });
    await clock.advance(60_000);
    expect(isDropped).toBe(false);
    stopped.abort();
    await response;
    expect(isDropped).toBe(true);
  });

  it('hangs within the body until the panel stops', async () => {
    const response = await fault({ kind: 'hang', before: 'body' });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toBe('{"data":{"token":"eyJ0');
    stopped.abort();
    expect([response.status, isDropped]).toEqual([200, false]);
  });

  it('affects no call that is refused before, and only the page that it names', async () => {
    faults.addRest({ kind: 'drop', page: 2 });
    const call = panel();
    await call(RESOURCES, { key: 'none', path: '/?page=2' });
    await call(RESOURCES, { path: '/?page=1' });
    expect(isDropped).toBe(false);
    await call(RESOURCES, { path: '/?page=2' });
    expect(isDropped).toBe(true);
  });
});

it('a pause ends with its time, or when the panel stops', async () => {
  const paused = pause(clock, 1_000, stopped.signal);
  await clock.advance(1_000);
  await paused;
  const ended = pause(clock, 1_000, stopped.signal);
  stopped.abort();
  await ended;
  expect(clock.pending).toBe(0);
});
