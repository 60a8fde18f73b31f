import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { ensureDebianPackage } from './debian.ts';
import { freePort } from './free-port.ts';
import { LOOPBACK, text, uint8, uint16, uint16BE, uint32, uint32BE } from './game-answers.ts';
import { launch } from './process.ts';

/** Joins a server; the returned function leaves it. */
export type Join = () => Promise<() => Promise<void>>;

/** A third-party game server on its own port of the loopback interface. */
export interface GameServer {
  /** The query type. */
  readonly type: string;
  readonly port: number;
  /** The configured maximum number of players. */
  readonly seats: number;
  readonly join: Join;
  stop(): Promise<void>;
}

/** Starts a game server with this many seats. */
export type StartGameServer = (seats: number) => Promise<GameServer>;

interface Program {
  readonly type: string;
  /** The Debian packages, each with a file that it contains. */
  readonly packages: readonly (readonly [name: string, file: string])[];
  readonly command: string;
  /** Its configuration files and arguments. The tests' clients are idle, so servers are configured not to disconnect them. */
  readonly configure: (
    port: number,
    seats: number,
    folder: string,
  ) => { readonly files?: Readonly<Record<string, string>>; readonly args: readonly string[] };
  /** Matches its output once it is ready. */
  readonly ready: RegExp;
  readonly join: (port: number) => ReturnType<Join>;
}

/** How to start one of Debian's servers in its own folder; undefined if a package is missing, which is reported on standard error. */
async function debianServer({
  type,
  packages,
  command,
  configure,
  ready,
  join: enter,
}: Program): Promise<StartGameServer | undefined> {
  for (const [name, file] of packages) if (!(await ensureDebianPackage(name, file, null))) return undefined;
  return async (seats) => {
    const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), `${type}-`))];
    // Mumble's server drops root privileges, and then needs access to its folder.
    await chmod(folder, 0o777);
    const { files = {}, args } = configure(port, seats, folder);
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const server = launch(command, args, { cwd: folder, env: { HOME: folder } });
    await server.printed(ready);
    return {
      type,
      port,
      seats,
      join: () => enter(port),
      stop: async () => {
        server.kill('SIGKILL');
        await server.ended;
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
}

export const startTeeworlds = await debianServer({
  type: 'teeworlds',
  packages: [['teeworlds-server', '/usr/games/teeworlds-server']],
  command: '/usr/games/teeworlds-server',
  configure: (port, seats) => ({
    args: [`sv_port ${port}`, `bindaddr ${LOOPBACK}`, 'sv_register 0', `sv_max_clients ${seats}`],
  }),
  ready: /rcon password/,
  join: joinTeeworlds,
});

// A client of version 0.7 takes a seat as soon as it has connected with a token.
async function joinTeeworlds(port: number) {
  const socket = createSocket('udp4');
  socket.connect(port, LOOPBACK);
  await once(socket, 'connect');
  const ours = Buffer.from('join');
  const control = (token: Buffer, message: number, payload: Buffer) =>
    Buffer.concat([uint8(0x04, 0, 0), token, uint8(message), payload], 8 + 512);
  socket.send(control(Buffer.alloc(4, 0xff), 5, ours));
  const [answer] = (await once(socket, 'message')) as [Buffer];
  const theirs = answer.subarray(8, 12);
  socket.send(control(theirs, 1, ours));
  const [accepted] = (await once(socket, 'message')) as [Buffer];
  if (accepted[7] !== 2) throw new Error('expected the server to accept the client');
  // A client is dropped after ten seconds without a packet; this one is empty.
  const alive = setInterval(() => socket.send(Buffer.concat([uint8(0, 0, 0), theirs])), 1_000);
  return async () => {
    clearInterval(alive);
    socket.send(control(theirs, 4, Buffer.alloc(0)));
    socket.close();
    await once(socket, 'close');
  };
}

/** DDNet without version 0.7, which its forks lack: the long response of version 0.6 counts all clients. */
export const startDdnet = await debianServer({
  type: 'teeworlds',
  packages: [['ddnet-server', '/usr/games/DDNet-Server']],
  command: '/usr/games/DDNet-Server',
  configure: (port, seats) => ({
    args: [
      `sv_port ${port}`,
      `bindaddr ${LOOPBACK}`,
      'sv_register 0',
      'sv_ipv4only 1',
      'sv_sixup 0',
      `sv_connlimit ${seats}`,
      `sv_max_clients ${seats}`,
      `sv_max_clients_per_ip ${seats}`,
    ],
  }),
  ready: /rcon password/,
  join: joinDdnet,
});

// A client of version 0.6 that asks for a token, as DDNet's do, is counted once it is ready.
async function joinDdnet(port: number) {
  const socket = createSocket('udp4');
  socket.connect(port, LOOPBACK);
  await once(socket, 'connect');
  const control = (message: number, ...payload: readonly Buffer[]) =>
    Buffer.concat([uint8(0x10, 0, 0, message), ...payload]);
  const magic = Buffer.from('TKEN');
  socket.send(control(1, magic, Buffer.alloc(4, 0xff)));
  const [accepted] = (await once(socket, 'message')) as [Buffer];
  if (accepted[3] !== 2) throw new Error('expected the server to accept the client');
  const token = accepted.subarray(4 + magic.length);
  socket.send(control(3, token));
  const messages = [Buffer.from('\x030.6 626fce9a778df4d4\0\0'), uint8(29)];
  // Each is sent as a numbered chunk that the server acknowledges: its version and password, and that it is ready.
  const chunks = messages.map((message, index) =>
    Buffer.concat([uint8(0x40 | (message.length >> 4), message.length & 0x0f, index + 1), message]),
  );
  socket.send(Buffer.concat([uint8(0, 0, chunks.length), ...chunks, token]));
  const alive = setInterval(() => socket.send(control(0, token)), 1_000);
  return async () => {
    clearInterval(alive);
    socket.send(control(4, token));
    socket.close();
    await once(socket, 'close');
  };
}

export const startOpenttd = await debianServer({
  type: 'openttd',
  packages: [
    ['openttd', '/usr/games/openttd'],
    ['openttd-opengfx', '/usr/share/games/openttd/baseset/opengfx/opengfx.obg'],
  ],
  command: '/usr/games/openttd',
  configure: (port, seats, folder) => ({
    files: {
      'openttd.cfg': `[network]\nmax_clients = ${seats}\nmax_init_time = 32000\n[game_creation]\nmap_x = 6\nmap_y = 6\n`,
    },
    args: ['-D', `${LOOPBACK}:${port}`, '-x', '-c', join(folder, 'openttd.cfg')],
  }),
  ready: /Map generated/,
  join: joinOpenttd,
});

/** OpenTTD 13.0, as in Debian 12: a server only admits clients of its own version. */
const OPENTTD = { revision: '13.0', newGrf: 0x1d_08_6d_64, spectator: 255 };

async function joinOpenttd(port: number) {
  const body = Buffer.concat([
    uint8(2),
    text(OPENTTD.revision),
    uint32(OPENTTD.newGrf),
    text('ann'),
    uint8(OPENTTD.spectator, 0),
  ]);
  const connection = connect(port, LOOPBACK);
  connection.write(Buffer.concat([uint16(body.length + 2), body]));
  // The welcome message.
  await once(connection, 'data');
  return async () => {
    const closed = once(connection, 'close');
    connection.destroy();
    await closed;
  };
}

/** The path of version 1.3, as in Debian 12. */
const MURMUR = '/usr/sbin/murmurd';

export const startMumble = await debianServer({
  type: 'mumble',
  packages: [['mumble-server', MURMUR]],
  command: MURMUR,
  configure: (port, seats, folder) => ({
    files: {
      'server.ini': `host=${LOOPBACK}\nport=${port}\nusers=${seats}\ndatabase=${join(folder, 'server.sqlite')}\nlogfile=\nbonjour=false\ntimeout=300\n`,
    },
    args: ['-fg', '-ini', join(folder, 'server.ini')],
  }),
  ready: /Not registering server/,
  join: joinMumble,
});

// https://mumble-protocol.readthedocs.io: type and length, then protocol buffers.
async function joinMumble(port: number) {
  const connection = connectTls({ host: LOOPBACK, port, rejectUnauthorized: false });
  await once(connection, 'secureConnect');
  const message = (type: number, payload: Buffer) =>
    connection.write(Buffer.concat([uint16BE(type), uint32BE(payload.length), payload]));
  // A version, 1.3.0, and a unique name.
  message(0, Buffer.concat([uint8(0x08), Buffer.from([0x80, 0x86, 0x04])]));
  const name = Buffer.from(`user${connection.localPort}`);
  message(2, Buffer.concat([uint8(0x0a, name.length), name]));
  let received = Buffer.alloc(0);
  await new Promise<void>((resolve) => {
    connection.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      // The last message of a login, ServerSync, has type 5.
      if (hasMessage(received, 5)) resolve();
    });
  });
  return async () => {
    const closed = once(connection, 'close');
    connection.end();
    await closed;
  };
}

function hasMessage(bytes: Buffer, type: number): boolean {
  for (let at = 0; at + 6 <= bytes.length; at += 6 + bytes.readUInt32BE(at + 2))
    if (bytes.readUInt16BE(at) === type) return true;
  return false;
}
