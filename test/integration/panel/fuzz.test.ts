import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { PanelApi } from '../../../src/panel/panel-api.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { describeFuzz } from '../../support/fuzz.ts';
import { hostileText, resourcesText } from '../../support/hostile.ts';
import { apiOptions, KEY } from './panel-api.ts';

/** The bytes of a response, one per character. */
interface WireAnswer {
  readonly wire: string;
}

let server: Server;
let api: PanelApi;
let answer = '';
const connections = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer, 'latin1'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  api = new PanelApi(apiOptions(`http://127.0.0.1:${port}`));
});

afterAll(async () => {
  await api.close();
  for (const connection of connections) connection.destroy();
  server.close();
  await once(server, 'close');
});

const latin1 = hostileText.map((text) => Buffer.from(text).toString('latin1'));

const number = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom('-1', '1e9', '0', '99999999999999999999', 'soon'),
);

const header = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          'Retry-After',
          'X-RateLimit-Limit',
          'X-RateLimit-Remaining',
          'X-RateLimit-Reset',
          'Date',
        ),
        fc.oneof(
          number,
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
          latin1,
        ),
      )
      .map(([name, value]) => `${name}: ${value}\r\n`),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom('Location', 'Content-Type', 'Content-Encoding', 'Set-Cookie', 'X-A'), latin1)
      .map(([name, value]) => `${name}: ${value}\r\n`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('Transfer-Encoding: chunked\r\n', 'Content-Length: 5\r\n', 'Trailer: a\r\n'),
  },
  { weight: 1, arbitrary: latin1 },
);

const status = fc.oneof(
  fc.constantFrom(200, 200, 204, 302, 401, 403, 404, 409, 429, 500, 502, 504),
  fc.integer({ min: 100, max: 999 }),
);

const credentials = fc
  .tuple(latin1, fc.oneof(fc.webUrl(), latin1))
  .map(([token, socket]) => JSON.stringify({ data: { token, socket } }));

const refusal = fc
  .tuple(hostileText, hostileText)
  .map(([detail, code]) => JSON.stringify({ errors: [{ code, detail: `${detail} ${KEY} ${detail}` }] }));

const body = fc.oneof(
  resourcesText,
  credentials,
  refusal,
  latin1,
  latin1.map((text) => `<html><title>${text}`),
);

const wire: fc.Arbitrary<WireAnswer> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(status, fc.array(header, { maxLength: 6 }), body)
      .map(([code, headers, text]) => ({ wire: `HTTP/1.1 ${code} So\r\n${headers.join('')}\r\n${text}` })),
  },
  {
    weight: 1,
    arbitrary: fc
      .uint8Array({ maxLength: 300 })
      .map((bytes) => ({ wire: Buffer.from(bytes).toString('latin1') })),
  },
);

const LINE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,1200}$/u;

async function expectSound(call: Promise<unknown>): Promise<void> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return;
  if (!(error instanceof PanelError)) throw new Error('expected a PanelError', { cause: error });
  expect(error.message).toMatch(LINE);
  expect(error.message).not.toContain(KEY);
  expect(error.problem.detail).not.toContain(KEY);
  const { retryAfterMs } = error.problem;
  if (retryAfterMs !== undefined) {
    expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
    expect(retryAfterMs).toBeLessThanOrEqual(600_000);
  }
}

describeFuzz({
  folder: 'answers',
  holds: 'any response of a panel is decoded, or is an error in one clean line without the key',
  runs: 120,
  input: wire,
  expectHeld: async (input) => {
    answer = input.wire;
    const { signal } = new AbortController();
    await expectSound(api.get('resources', { id: '1a7ce997' }, signal));
    await expectSound(api.get('websocket', { id: '1a7ce997' }, signal));
    await expectSound(api.get('listing', { page: 1, perPage: 100 }, signal));
  },
});
