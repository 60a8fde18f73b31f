// A port that looks like that of a hanging machine.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/** The backlog's size for `listen`. Linux accepts one connection more. */
const BACKLOG = 1;

const SCRIPT = `
  const [port] = process.argv.slice(1);
  const server = require('node:net').createServer();
  server.listen({ port: Number(port), host: '127.0.0.1', backlog: ${BACKLOG} }, () => process.stdout.write('listening'));`;

/** A port that never responds to connection attempts. */
export interface DeafPort {
  /** Releases the port. */
  end(): Promise<void>;
}

/**
 * Makes a port behave as on a machine that hangs: a stopped process listens, and its backlog is
 * filled. Linux then drops further connection attempts, so the client waits.
 */
export async function startDeafPort(port: number): Promise<DeafPort> {
  const listener = spawn(process.execPath, ['-e', SCRIPT, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(listener.stdout, 'data');
  listener.kill('SIGSTOP');
  const queue: Socket[] = [];
  while (!(await isFull(port))) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    queue.push(socket);
    await once(socket, 'connect');
  }
  return {
    end: async () => {
      const ended = once(listener, 'close');
      listener.kill('SIGKILL');
      for (const socket of queue) socket.destroy();
      await ended;
    },
  };
}

/** Whether the port's backlog is full, according to the system's list of sockets. */
async function isFull(port: number): Promise<boolean> {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const line = (await readFile('/proc/net/tcp', 'utf8'))
    .split('\n')
    .find((line) => line.includes(` ${address} 00000000:0000 0A `));
  const [, waiting] = / 0A [0-9A-F]{8}:([0-9A-F]{8}) /.exec(line ?? '') ?? [];
  if (waiting === undefined) throw new Error(`nothing listens on port ${port}`);
  return Number.parseInt(waiting, 16) > BACKLOG;
}
