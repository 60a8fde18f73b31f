import type { Socket as UdpSocket } from 'node:dgram';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { complete, ResponseReader } from '../../../src/query/response-reader.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const SILENCE_MS = 800;
const KIB = 1_024;

/** The received data of one query, with a socket and a connection that the test controls. */
function receive() {
  const clock = new ManualClock();
  const scope = new AbortController();
  const busy: boolean[] = [];
  const reader = new ResponseReader(scope, { clock, decoding: (isBusy) => void busy.push(isBusy) });
  const failure = reader.failure.catch((error: unknown) => error);
  const [udp, tcp] = [new EventEmitter(), new EventEmitter()];
  return {
    clock,
    scope,
    busy,
    reader,
    failure,
    /** Opens a socket for datagrams. */
    openUdp: () => {
      reader.readDatagrams(udp as UdpSocket);
      return udp;
    },
    /** Opens a connection and decodes its data. */
    openTcp: () => {
      reader.followConnection(tcp as Socket);
      tcp.on('data', (bytes: Buffer) => reader.decode(bytes));
      return tcp;
    },
  };
}

type Received = ReturnType<typeof receive>;

const utf8 = (bytes: Buffer | undefined) => bytes?.toString();

describe('what is received', () => {
  it('is decoded until there is a result, and each time by the latest decoder', async () => {
    const { reader, busy, ...one } = receive();
    const udp = one.openUdp();
    const seen: unknown[] = [];
    const result = reader.until((bytes) => {
      seen.push(utf8(bytes));
      return seen.length === 2 ? 'first' : undefined;
    });
    udp.emit('message', Buffer.from('a'));
    udp.emit('message', Buffer.from('b'));
    expect(await result).toBe('first');
    const next = reader.until(utf8);
    udp.emit('message', Buffer.from('c'));
    expect([await next, seen]).toEqual(['c', ['a', 'b']]);
    await one.clock.advance(0);
    expect(busy).toEqual([true, false, true, false, true, false]);
  });

  it('rejects with what the decoder throws', async () => {
    const { reader, ...one } = receive();
    const result = reader.until(complete);
    one.openTcp();
    reader.decode(undefined);
    await expect(result).rejects.toThrow('closed without a complete response');
  });

  it('is not decoded once the query has ended', async () => {
    const { reader, busy, ...one } = receive();
    const udp = one.openUdp();
    const seen: unknown[] = [];
    void reader.until((bytes) => void seen.push(bytes));
    udp.emit('message', Buffer.from('a'));
    one.scope.abort();
    await one.clock.advance(0);
    expect([seen, busy]).toEqual([[], [true, false]]);
  });

  it('includes silence, unless a datagram arrives in time', async () => {
    const { reader, clock, ...one } = receive();
    const udp = one.openUdp();
    const seen: unknown[] = [];
    void reader.until((bytes) => {
      seen.push(utf8(bytes));
      if (bytes !== undefined) reader.awaitDatagram();
      return undefined;
    });
    reader.awaitDatagram();
    await clock.advance(SILENCE_MS - 1);
    udp.emit('message', Buffer.from('a'));
    await clock.advance(SILENCE_MS - 1);
    expect(seen).toEqual(['a']);
    await clock.advance(1);
    expect(seen).toEqual(['a', undefined]);
    expect(clock.pending).toBe(0);
  });

  it('waits for nothing after a result, or after the end', async () => {
    for (const end of ['result', 'abort'] as const) {
      const { reader, clock, ...one } = receive();
      const udp = one.openUdp();
      const result = reader.until(utf8);
      reader.awaitDatagram();
      if (end === 'abort') one.scope.abort();
      else {
        udp.emit('message', Buffer.from('a'));
        await result;
      }
      expect(clock.pending, end).toBe(0);
    }
  });
});

describe('too much', () => {
  it.each<[string, number, (one: Received) => EventEmitter, string, number]>([
    ['datagrams, of which each costs a kibibyte', 128, (one) => one.openUdp(), 'message', 0],
    ['bytes in datagrams', 8, (one) => one.openUdp(), 'message', 15 * KIB],
    ['pieces of a stream, of which each costs 128 bytes', 1_024, (one) => one.openTcp(), 'data', 0],
    ['bytes of a stream', 32, (one) => one.openTcp(), 'data', 4 * KIB - 128],
  ])('%s', async (_what, allowed, open, event, length) => {
    const one = receive();
    const socket = open(one);
    for (let count = 0; count < allowed; count += 1) socket.emit(event, Buffer.alloc(length));
    expect(one.scope.signal.aborted).toBe(false);
    socket.emit(event, Buffer.alloc(length));
    expect(await one.failure).toMatchObject({
      message: 'the response is too long',
      failure: 'query_wrong_protocol',
    });
  });

  it('CPU time for decoding', async () => {
    const one = receive();
    const udp = one.openUdp();
    void one.reader.until(() => {
      for (const before = cpuMs(); cpuMs() - before < 150; );
      return undefined;
    });
    udp.emit('message', Buffer.from('a'));
    expect(await one.failure).toMatchObject({ message: 'decoding the response takes too much CPU time' });
  });
});

describe('a query fails', () => {
  const broken = (code?: string) => (one: Received) =>
    one.reader.broken(Object.assign(new Error('broken'), code !== undefined && { code }));

  it.each<[string, (one: Received) => void | Promise<void>, string, RegExp]>([
    ['because nothing listens', broken('ECONNREFUSED'), 'query_refused', /^nothing listens on the port$/],
    [
      'because the network fails',
      broken('EHOSTUNREACH'),
      'query_no_answer',
      /^unreachable \(EHOSTUNREACH\)$/,
    ],
    ['because of an error without a code', broken(), 'query_no_answer', /^unreachable \(closed\)$/],
    [
      'because of an error of the socket',
      (one) => void one.openUdp().emit('error', Object.assign(new Error('broken'), { code: 'EPERM' })),
      'query_no_answer',
      /EPERM/,
    ],
    [
      'because the connection ends within a response',
      (one) => {
        one.openTcp().emit('data', Buffer.from('a'));
        broken('ECONNRESET')(one);
      },
      'query_wrong_protocol',
      /without a complete response/,
    ],
    ['without any response', (one) => one.scope.abort(), 'query_no_answer', /^no response$/],
    [
      'connected, but without a response',
      (one) => {
        one.openTcp().emit('connect');
        one.scope.abort();
      },
      'query_timed_out',
      /^connected, but received no response$/,
    ],
    [
      'within a response of a connection',
      (one) => {
        one.openTcp().emit('data', Buffer.from('a'));
        one.scope.abort();
      },
      'query_timed_out',
      /not complete in time/,
    ],
    [
      'with datagrams that mean nothing',
      (one) => {
        one.openUdp().emit('message', Buffer.from('a'));
        one.scope.abort();
      },
      'query_wrong_protocol',
      /^responded, but not in the game's protocol$/,
    ],
    [
      'after datagrams that were understood',
      async (one) => {
        const result = one.reader.until(utf8);
        one.openUdp().emit('message', Buffer.from('a'));
        await result;
        one.scope.abort();
      },
      'query_timed_out',
      /not complete in time/,
    ],
  ])('%s', async (_what, end, failure, message) => {
    const one = receive();
    await end(one);
    expect(await one.failure).toMatchObject({ failure, message: expect.stringMatching(message) });
  });
});

it('a connection is one that was established', () => {
  const { reader, openTcp } = receive();
  const tcp = openTcp();
  expect(reader.isConnected).toBe(false);
  tcp.emit('connect');
  expect(reader.isConnected).toBe(true);
});
