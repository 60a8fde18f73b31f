// Real game servers for tests of queries.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { LOOPBACK } from './game-answers.ts';
import { hasProgram } from './has-program.ts';
import { launch } from './process.ts';
import { PROGRAMS } from './programs.ts';

/** A game server that Debian contains. */
interface Program {
  /** The query type. */
  readonly type: string;
  readonly isInstalled: boolean;
  readonly command: string;
  /** The configuration files and arguments. */
  readonly configure: (
    port: number,
    seats: number,
    folder: string,
  ) => { readonly files?: Readonly<Record<string, string>>; readonly args: readonly string[] };
  /** Matches the output of a server that is ready. */
  readonly ready: RegExp;
}

/** Starts a game server with this many seats. */
export async function startGameServer(
  { command, configure, ready }: Program,
  seats: number,
): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const [port, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'game-'))];
  // Mumble's server drops root privileges, and still needs its folder.
  await chmod(folder, 0o777);
  const { files = {}, args } = configure(port, seats, folder);
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const server = launch(command, args, { cwd: folder, env: { HOME: folder } });
  await server.printed(ready);
  return {
    port,
    stop: async () => {
      server.kill('SIGKILL');
      await server.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const GAME_SERVERS: readonly Program[] = [
  {
    type: 'teeworlds',
    isInstalled: hasProgram('teeworlds'),
    command: PROGRAMS.teeworlds.file,
    configure: (port, seats) => ({
      args: [`sv_port ${port}`, `bindaddr ${LOOPBACK}`, 'sv_register 0', `sv_max_clients ${seats}`],
    }),
    ready: /rcon password/,
  },
  {
    // Without Teeworlds 0.7, which its forks don't support.
    type: 'teeworlds',
    isInstalled: hasProgram('ddnet'),
    command: PROGRAMS.ddnet.file,
    configure: (port, seats) => ({
      args: [
        `sv_port ${port}`,
        `bindaddr ${LOOPBACK}`,
        'sv_register 0',
        'sv_ipv4only 1',
        'sv_sixup 0',
        `sv_max_clients ${seats}`,
      ],
    }),
    ready: /rcon password/,
  },
  {
    type: 'openttd',
    isInstalled: hasProgram('openttd') && hasProgram('openttd-graphics'),
    command: PROGRAMS.openttd.file,
    configure: (port, seats, folder) => ({
      files: {
        'openttd.cfg': `[network]\nmax_clients = ${seats}\n[game_creation]\nmap_x = 6\nmap_y = 6\n`,
      },
      args: ['-D', `${LOOPBACK}:${port}`, '-x', '-c', join(folder, 'openttd.cfg')],
    }),
    ready: /Map generated/,
  },
  {
    type: 'mumble',
    isInstalled: hasProgram('murmur'),
    command: PROGRAMS.murmur.file,
    configure: (port, seats, folder) => ({
      files: {
        'server.ini': `host=${LOOPBACK}\nport=${port}\nusers=${seats}\ndatabase=${join(folder, 'server.sqlite')}\nlogfile=\nbonjour=false\n`,
      },
      args: ['-fg', '-ini', join(folder, 'server.ini')],
    }),
    ready: /Not registering server/,
  },
];
