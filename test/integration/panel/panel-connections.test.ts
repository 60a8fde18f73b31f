import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connections } from '../../../src/panel/panel-connections.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let server: Server;
let origin: string;
let connections: Connections;
let respond: RequestListener;
let clock: ManualClock;

beforeEach(async () => {
  server = createServer((request, response) => respond(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  clock = new ManualClock();
  connections = connect();
});
afterEach(async () => {
  await connections.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function connect(): Connections {
  return new Connections({ baseUrl: origin, requestTimeoutMs: 10_000, connectTimeoutMs: 5_000, clock });
}

function exchange({ maxBytes = 1_000, signal = new AbortController().signal } = {}) {
  return connections.exchange({ origin, path: '/api?page=1', headers: { a: 'b' }, maxBytes, signal, clock });
}

describe('a response', () => {
  it('has the status, the headers that matter, and the text', async () => {
    respond = ({ url, headers }, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'x-ratelimit-limit': '240',
        'x-ratelimit-remaining': '239',
      });
      response.end(`${url} ${String(headers['a'])} ä`);
    };
    expect(await exchange()).toMatchObject({
      status: 200,
      contentType: 'application/json',
      contentEncoding: '',
      isChallenge: false,
      rate: { limit: '240', remaining: '239', retryAfter: undefined },
      text: '/api?page=1 b ä',
    });
  });

  it('is decoded wherever it is divided, without a byte order mark', async () => {
    respond = (_, response) => {
      for (const byte of Buffer.from('\uFEFF{"ä": "€ 😀"}')) response.write(Buffer.of(byte));
      response.end();
    };
    expect((await exchange()).text).toBe('{"ä": "€ 😀"}');
  });

  it('that redirects is not followed', async () => {
    respond = (_, response) => response.writeHead(302, { location: 'https://elsewhere.example' }).end();
    expect(await exchange()).toMatchObject({ status: 302, location: 'https://elsewhere.example' });
  });

  it('from a challenge of Cloudflare is recognized', async () => {
    respond = (_, response) => response.writeHead(403, { 'cf-mitigated': 'challenge' }).end();
    expect(await exchange()).toMatchObject({ status: 403, isChallenge: true });
  });

  it('longer than allowed is an error, unless it is one itself, which is cut off', async () => {
    respond = (_, response) => response.end('x'.repeat(1_001));
    await expect(exchange()).rejects.toThrow('the response is longer than 1000 bytes');
    respond = (_, response) => response.writeHead(500).end('x'.repeat(200_000));
    const { status, text } = await exchange();
    expect(status).toBe(500);
    expect(text.length).toBeLessThan(200_000);
  });
});

/** The error of a call that fails. */
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: Error) => error.message,
  );

describe('a request', () => {
  /** The requests that have arrived, as functions that complete them. */
  let arrived: (() => void)[];
  beforeEach(() => {
    arrived = [];
    respond = (_, response) => void arrived.push(() => response.end('done'));
  });

  it('ends with its deadline', async () => {
    const failure = failureOf(exchange());
    await eventually(() => expect(arrived).toHaveLength(1));
    await clock.advance(10_000);
    expect(await failure).toBe('the deadline passed');
  });

  it('ends with the reason of its signal', async () => {
    const ending = new AbortController();
    const failure = failureOf(exchange({ signal: ending.signal }));
    await eventually(() => expect(arrived).toHaveLength(1));
    ending.abort(new Error('enough'));
    expect(await failure).toBe('enough');
  });

  it('in progress is completed when the connections drain', async () => {
    const response = exchange();
    await eventually(() => expect(arrived).toHaveLength(1));
    const drained = connections.drain();
    arrived[0]?.();
    expect((await response).text).toBe('done');
    await drained;
  });

  it('in progress is rejected when the connections close', async () => {
    const failure = failureOf(exchange());
    await eventually(() => expect(arrived).toHaveLength(1));
    await connections.close();
    expect(await failure).toEqual(expect.any(String));
  });
});
