import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FRAMES, REQUESTS } from '../../../bench/strangers/amounts.ts';
import { type StrangerProgram, start } from '../../../bench/strangers/node.ts';
import { HttpServer } from '../../../src/http/http-server.ts';
import { PTERODACTYL_SOCKET } from '../../../src/panel/dialects/pterodactyl/socket-messages.ts';
import { MAX_MESSAGE_BYTES } from '../../../src/session/frame-reader.ts';
import { ConsoleSocket } from '../../../src/session/socket.ts';
import { socketTls } from '../../../src/session/socket-tls.ts';
import { UnfinishedBytes } from '../../../src/session/unfinished-bytes.ts';
import { eventually } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { largeFleet } from '../../support/readings.ts';
import { exporterRoutes } from '../../support/routes.ts';
import { PATIENT } from '../http/raw-client.ts';

const KIB = 1_024;
const AMOUNTS = [64 * KIB, 512 * KIB];

let stranger: StrangerProgram;

beforeAll(async () => {
  stranger = await start();
});

afterAll(() => stranger.stop());

describe.each(AMOUNTS)('%d bytes of a kind of frame', (bytes) => {
  it.each(Object.keys(FRAMES))('are messages of a bounded size, and nothing is kept: %s', async (kind) => {
    const budget = new UnfinishedBytes();
    const lengths: number[] = [];
    let [isOpen, skipped, closed, mostKept] = [false, 0, 0, 0];
    const socket = new ConsoleSocket(
      `ws://127.0.0.1:${stranger.port()}/`,
      {
        codec: PTERODACTYL_SOCKET,
        origin: 'http://panel',
        userAgent: 'test',
        clock: new ManualClock(),
        tls: socketTls(),
        unfinished: budget,
      },
      {
        opened: () => {
          isOpen = true;
        },
        refused: () => undefined,
        message: (frame, _, from = 0, to = frame.length) => {
          lengths.push(to - from);
          mostKept = Math.max(mostKept, budget.taken);
          return false;
        },
        oversize: () => {
          skipped += 1;
        },
        closed: () => {
          closed += 1;
        },
      },
    );
    await eventually(() => expect(isOpen).toBe(true));
    await stranger.frames({ kind, bytes });
    await eventually(() => expect(closed).toBe(1));
    await socket.close();
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
    expect(total).toBeLessThanOrEqual(bytes + MAX_MESSAGE_BYTES);
    expect(longest).toBeLessThanOrEqual(MAX_MESSAGE_BYTES);
    expect(skipped).toBeLessThanOrEqual(bytes / MAX_MESSAGE_BYTES + 1);
    expect(mostKept).toBeLessThanOrEqual(MAX_MESSAGE_BYTES + KIB);
    expect(budget.taken).toBe(0);
  });
});

describe('a client', () => {
  let server: HttpServer;
  let port: number;

  beforeAll(async () => {
    const clock = new ManualClock();
    const { routes } = exporterRoutes({ fleet: largeFleet(10), clock });
    const listen = { host: '127.0.0.1', port: 0 };
    server = new HttpServer({ listen, routes, clock, logger: collectingLogger(), limits: PATIENT });
    ({ port } = await server.start());
  });

  afterAll(() => server.stop());

  describe.each(AMOUNTS)('that sends %d bytes of a form of request', (bytes) => {
    it.each(Object.keys(REQUESTS))('is answered once at most, and disconnected: %s', async (kind) => {
      let requests = 0;
      let responses = 0;
      const count = () => {
        requests += 1;
      };
      const countResponse = () => {
        responses += 1;
      };
      subscribe('http.server.request.start', count);
      subscribe('http.server.response.finish', countResponse);
      await stranger.requests({ kind, bytes, port });
      unsubscribe('http.server.request.start', count);
      unsubscribe('http.server.response.finish', countResponse);
      // One may be parsed after the one that ends the connection.
      expect(requests).toBeLessThanOrEqual(4);
      expect(responses).toBeLessThanOrEqual(1);
      expect((await fetch(`http://127.0.0.1:${port}/-/healthy`)).status).toBe(200);
    });
  });
});
