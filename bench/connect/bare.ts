// The baseline of the benchmark `connect`: the same handshakes with ws alone.
import { readFile } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { timeOf } from './process-time.ts';
import { type ConnectingOptions, type ConnectingProgram, Stage } from './sessions.ts';

/** The exporter's back-off in this benchmark. */
const BACKOFF_MS = 500;

const AUTH = JSON.stringify({ event: 'auth', args: ['t'.repeat(581)] });
const SEND_STATS = JSON.stringify({ event: 'send stats', args: [null] });

/**
 * Opens sockets, sends tokens, requests and parses `stats`, and reopens lost sockets after half a
 * second.
 */
export async function start({ url, servers, caFile }: ConnectingOptions): Promise<ConnectingProgram> {
  const tls = caFile === undefined ? {} : { ca: await readFile(caFile, 'utf8') };
  const streams = new Stage(servers);
  const latest: unknown[] = [];
  const open = (index: number): void => {
    const ws = new WebSocket(`${url}/${index}`, {
      origin: 'http://127.0.0.1',
      perMessageDeflate: false,
      followRedirects: false,
      skipUTF8Validation: true,
      ...tls,
    });
    ws.on('error', () => undefined);
    ws.on('open', () => ws.send(AUTH));
    ws.on('close', () => setTimeout(() => open(index), BACKOFF_MS));
    ws.on('message', (data: Buffer) => {
      const { event, args } = JSON.parse(data.toString()) as { event: string; args: [string] };
      if (event === 'auth success') ws.send(SEND_STATS);
      if (event !== 'stats') return;
      latest[index] = JSON.parse(args[0]);
      streams.reached();
    });
  };
  const connect = async () => {
    for (let index = 0; index < servers; index += 1) open(index);
    await streams.all();
  };
  return {
    connect: (profile) => timeOf(connect, profile),
    reconnect: (profile) => timeOf(() => streams.all(), profile),
  };
}
