import type { GameState, Usage } from './game-server.ts';
import type { Random } from './random.ts';
import type { Settings } from './schema.ts';

/** A frame's text: `args` is left out where there are none. */
export function eventFrame(event: string, args: readonly string[], trailingNewline: boolean): string {
  const text = JSON.stringify(args.length === 0 ? { event } : { event, args });
  return trailingNewline ? `${text}\n` : text;
}

/** The `stats` payload as text. */
export function statsPayload(
  state: GameState,
  usage: Usage,
  extras: Pick<Settings, 'statsDiskIo' | 'statsUptime' | 'statsShuffleKeys'>,
  random: Random,
): string {
  const payload = {
    memory_bytes: usage.memoryBytes,
    memory_limit_bytes: usage.memoryLimitBytes,
    cpu_absolute: usage.cpuAbsolute,
    network: { rx_bytes: usage.rxBytes, tx_bytes: usage.txBytes },
    ...(extras.statsDiskIo && {
      disk_io: { read_bytes: usage.readBytes, write_bytes: usage.writtenBytes },
    }),
    ...(extras.statsUptime && { uptime: usage.uptimeMs }),
    state,
    disk_bytes: usage.diskBytes,
  };
  return JSON.stringify(extras.statsShuffleKeys ? shuffled(payload, random) : payload);
}

function shuffled(payload: object, random: Random): object {
  const ranked = Object.entries(payload).map((entry) => ({ entry, rank: random() }));
  return Object.fromEntries(ranked.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry));
}

/** What a client sent, as far as it can be read; undefined for anything that is no event. */
export function parseClientFrame(text: string): { event: string; args: unknown[] } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { event, args } = value as { event?: unknown; args?: unknown };
  if (typeof event !== 'string') return undefined;
  return { event, args: Array.isArray(args) ? args : [] };
}
