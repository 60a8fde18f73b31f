import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';

/** Real milliseconds after which a connect without a response counts as unanswered. */
const UNANSWERED_MS = 30;

const SCRIPT = `
  const [port] = process.argv.slice(1);
  const server = require('node:net').createServer();
  server.listen({ port: Number(port), host: '127.0.0.1', backlog: 1 }, () => process.stdout.write('listening'));`;

/** A port that never responds to connects. */
export interface DeafPort {
  /** Releases the port. */
  end(): Promise<void>;
}

/**
 * Occupies a port like a machine that hangs: a stopped process listens, and its backlog is filled until the system responds
 * to no more connects. Linux then drops them, and the client waits.
 */
export async function startDeafPort(port: number): Promise<DeafPort> {
  const listener = spawn(process.execPath, ['-e', SCRIPT, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(listener.stdout, 'data');
  listener.kill('SIGSTOP');
  const queue: Socket[] = [];
  for (let answered = true; answered; ) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    queue.push(socket);
    const unanswered = async () => {
      await delay(UNANSWERED_MS);
      // A process that was held up looks at its sockets once more.
      return setImmediate(false);
    };
    answered = await Promise.race([once(socket, 'connect').then(() => true), unanswered()]);
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
