import { pbkdf2 } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { bounded, untilAborted } from '../../../src/domain/waits.ts';
import { endProcesses, launch } from '../../support/process.ts';
import { TestTime } from '../../support/test-time.ts';

afterEach(endProcesses);

/** So fast that a minute passes in 60 ms on an idle machine. */
const SPEED = 1_000;

/** A deadline that the work below would exceed if time advanced during the work. */
const DEADLINE_MS = 10_000;

/** Work of a quarter of a second. Ten minutes would pass if time advanced during the work. */
const WORK = `
  const end = process.cpuUsage().user + 250_000;
  while (process.cpuUsage().user < end);`;

/** Resolves with the result of the work. Rejects if the deadline has passed. */
function inTime<T>(work: (time: TestTime) => Promise<T>): Promise<T> {
  const time = new TestTime(SPEED);
  const { signal } = new AbortController();
  const late = () => new Error('the deadline passed');
  return bounded({ clock: time.clock(), signal }, DEADLINE_MS, late, (scope) =>
    untilAborted(work(time), scope),
  );
}

/** Opens a connection to this port. */
async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

it('no time passes while a thread works', async () => {
  const thread = new Worker(`${WORK}; require('node:worker_threads').parentPort.postMessage('done')`, {
    eval: true,
  });
  expect(await inTime(() => once(thread, 'message'))).toEqual(['done']);
});

it('no time passes while threads of Node.js work', async () => {
  const jobs = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 100_000, 32, 'sha512'));
  expect(await inTime(() => Promise.all(jobs))).toHaveLength(8);
});

it('no time passes while a program that the test launched works', async () => {
  const program = launch(process.execPath, [
    '-e',
    `const server = require('node:net').createServer((socket) => socket.once('data', () => { ${WORK}; socket.end('done') }));
     server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port + '.'))`,
  ]);
  const [, port] = await program.printed(/port (\d+)\./);
  const socket = await connected(Number(port));
  socket.write('?');
  expect(String(await inTime(() => once(socket, 'data')))).toBe('done');
});

it('a conversation of many turns takes at most a step', async () => {
  const server = createServer((socket) => socket.on('data', (data) => socket.write(data)));
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = await connected((server.address() as AddressInfo).port);
  const took = await inTime(async (time) => {
    const startedAt = time.now();
    for (let turn = 0; turn < 15; turn += 1) {
      socket.write('?');
      await once(socket, 'data');
    }
    return time.now() - startedAt;
  });
  expect(took).toBeLessThan(2 * SPEED);
});

it('time passes while nothing answers, and while data never ends', async () => {
  const flood = createServer((socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(1_000)));
      socket.once('drain', write);
    };
    socket.on('error', () => undefined);
    write();
  });
  onTestFinished(() => void flood.close());
  flood.listen(0, '127.0.0.1');
  await once(flood, 'listening');
  const silence = () => new Promise<never>(() => undefined);
  await expect(inTime(silence)).rejects.toThrow('the deadline passed');
  (await connected((flood.address() as AddressInfo).port)).resume();
  await expect(inTime(silence)).rejects.toThrow('the deadline passed');
});

it('no instant is read twice, not even after days', async () => {
  const time = new TestTime(1e9);
  await new Promise<void>((resolve) => void time.schedule(1e9, resolve));
  const readings = Array.from({ length: 100 }, () => time.now());
  expect(new Set(readings).size).toBe(readings.length);
  expect(readings).toEqual(readings.toSorted((one, other) => one - other));
});
