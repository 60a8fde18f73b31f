// A daemon's reactions to crashes, such as its lines on the console.

import type { ExitState } from './simulator-schema.ts';
import type { SimulatorSettings } from './simulator-settings.ts';

/** A daemon's reaction to a run that ended without a request. */
export interface CrashReport {
  readonly sentences: readonly string[];
  readonly restarts: boolean;
}

interface Daemon {
  /** The default `app_name`, unless the node's configuration changes it. */
  readonly appName: string;
  readonly line: (prefix: string, text: string) => string;
  /** Whether it prints that it doesn't restart the server because crash detection is off. */
  readonly namesDisabledDetection: boolean;
  /** Whether a killed server is off at once, without `stopping`. */
  readonly killsSilently: boolean;
}

/**
 * The colors of both versions of Wings (server/console.go): `[yellow][bold]…[default] …`, with a
 * reset at the end.
 */
function wingsLine(prefix: string, text: string): string {
  return `\u001b[33m\u001b[1m${prefix}\u001b[39m ${text}\u001b[0m`;
}

const DAEMONS: Readonly<Record<SimulatorSettings['daemon'], Daemon>> = {
  pterodactyl: {
    appName: 'Pterodactyl',
    line: wingsLine,
    namesDisabledDetection: true,
    killsSilently: false,
  },
  pelican: { appName: 'pelican', line: wingsLine, namesDisabledDetection: true, killsSilently: false },
  // From application/src/server/mod.rs of calagopus/wings.
  calagopus: {
    appName: 'Pterodactyl',
    line: (prefix, text) => `\u001b[1;33m${prefix}\u001b[0m \u001b[1m${text}\u001b[0m`,
    namesDisabledDetection: false,
    killsSilently: true,
  },
};

export function killsSilently({ daemon }: Pick<SimulatorSettings, 'daemon'>): boolean {
  return DAEMONS[daemon].killsSilently;
}

/** The daemon's message before it stops a server that exceeds its disk limit. */
export const DISK_FULL = 'Server is exceeding the assigned disk space limit, stopping process now.';

/** The daemon's message if a server doesn't start after a crash (server/server.go of Wings). */
export const RESTART_FAILED = 'Server crash was detected but an error occurred while handling it.';

/** A console line as printed by a daemon; a game may print the same. */
export function daemonLine(text: string, node: Pick<SimulatorSettings, 'daemon' | 'appName'>): string {
  const { appName, line } = DAEMONS[node.daemon];
  return line(`[${node.appName === '' ? appName : node.appName} Daemon]:`, text);
}

/** After a second crash within this time, the daemon doesn't restart a server. */
const CRASH_TIMEOUT_S = 60;

/**
 * The daemon's reaction to a process that ended by itself, as in server/crash.go of Wings.
 * `sinceRestartMs` is the time since the last crash after which it restarted the server.
 */
export function crashReport(
  { code, outOfMemory = false }: ExitState,
  sinceRestartMs: number | undefined,
  node: Pick<SimulatorSettings, 'daemon' | 'crashDetection'>,
): CrashReport {
  if (!node.crashDetection) {
    const text = 'Aborting automatic restart, crash detection is disabled for this instance.';
    const { namesDisabledDetection } = DAEMONS[node.daemon];
    return { sentences: namesDisabledDetection ? [text] : [], restarts: false };
  }
  const restarts = sinceRestartMs === undefined || sinceRestartMs >= CRASH_TIMEOUT_S * 1_000;
  const report = [
    '---------- Detected server process in a crashed state! ----------',
    `Exit code: ${code}`,
    `Out of memory: ${outOfMemory}`,
  ];
  if (restarts) return { sentences: report, restarts };
  const text = `Aborting automatic restart, last crash occurred less than ${CRASH_TIMEOUT_S} seconds ago.`;
  return { sentences: [...report, text], restarts };
}
