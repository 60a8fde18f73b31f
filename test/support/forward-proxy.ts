// A real forward proxy for tests.
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from './certificates.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { startNameProxy } from './name-proxy.ts';
import { OpenSockets } from './open-sockets.ts';
import { launch, type RunningProcess } from './process.ts';

/** Options of a proxy. */
export interface ForwardProxyOptions {
  /** The required credentials; none by default. */
  readonly user?: { readonly name: string; readonly password: string };
  /** The only port to which it opens tunnels. */
  readonly onlyPort?: number;
  /** Its certificate, if clients connect with TLS. */
  readonly certificate?: Certificate;
}

/** A running tinyproxy. It resolves names under `.test` to the loopback interface. */
export interface ForwardProxy {
  /** The address, without user name and password. */
  readonly url: string;
  /** The address as `host:port`. */
  readonly host: string;
  /** The first lines of all requests so far, from the log. */
  requests(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The number of attempts, because another program may take a free port before the proxy does. */
const ATTEMPTS = 5;

/** Starts a proxy on the loopback interface, in a new folder. */
export async function startForwardProxy(options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'forward-proxy-'));
  const names = await startNameProxy();
  const log = join(folder, 'log');
  const { child, port } = await launchTinyproxy(folder, log, names.port, options);
  const front = options.certificate === undefined ? undefined : await tlsFront(options.certificate, port);
  const host = `127.0.0.1:${front?.port ?? port}`;
  return {
    url: `${front === undefined ? 'http' : 'https'}://${host}`,
    host,
    requests: async () => requestsIn(await readFile(log, 'utf8')),
    stop: async () => {
      await front?.stop();
      child.kill('SIGKILL');
      await child.ended;
      await names.stop();
      await rm(folder, { recursive: true });
    },
  };
}

function requestsIn(log: string): readonly string[] {
  return [...log.matchAll(/Request \(file descriptor \d+\): (\S+ \S+) /g)].map(([, line = '']) => line);
}

async function launchTinyproxy(
  folder: string,
  log: string,
  namesPort: number,
  { user, onlyPort }: ForwardProxyOptions,
): Promise<{ readonly child: RunningProcess; readonly port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const lines = [
      `Port ${port}`,
      'Listen 127.0.0.1',
      'Timeout 600',
      'MaxClients 100',
      `LogFile "${log}"`,
      'LogLevel Connect',
      `Upstream http 127.0.0.1:${namesPort} ".test"`,
      ...(user === undefined ? [] : [`BasicAuth ${user.name} ${user.password}`]),
      ...(onlyPort === undefined ? [] : [`ConnectPort ${onlyPort}`]),
    ];
    const file = join(folder, 'tinyproxy.conf');
    await writeFile(file, `${lines.join('\n')}\n`);
    const child = launch('tinyproxy', ['-d', '-c', file]);
    if (await listens(child, port)) return { child, port };
    if (attempt === ATTEMPTS) throw new Error(`tinyproxy doesn't start:\n${child.stdout}${child.stderr}`);
  }
}

/**
 * Resolves with true when the port accepts connections, or with false when the process has ended.
 */
async function listens(child: RunningProcess, port: number): Promise<boolean> {
  let isGone = false;
  void child.ended.then(() => (isGone = true));
  return eventually(async () => {
    if (isGone) return false;
    if (await canConnect(port)) return true;
    throw new Error(`nothing listens on port ${port}`);
  });
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Terminates TLS in front of a port, because tinyproxy doesn't support it. */
async function tlsFront(certificate: Certificate, port: number) {
  const sockets = new OpenSockets();
  const server = createTlsServer({ cert: certificate.cert, key: certificate.key }, (client) => {
    sockets.join(client, connect(port, '127.0.0.1'));
  });
  server.on('connection', (socket) => sockets.keep(socket));
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, stop: () => sockets.close(server) };
}
