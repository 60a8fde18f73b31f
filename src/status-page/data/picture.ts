// The fleet at one instant, for the page.
import type { ServerReading } from '../../domain/reading.ts';
import { inBlocks } from './blocks.ts';
import type { BoardSource } from './board-source.ts';
import { countedProblem } from './counted-problem.ts';
import { LIVE_FIELDS, type LiveField, type LiveServer } from './live-fields.ts';
import { type PanelsStatus, panelsStatus } from './panel-status.ts';

/** A server's values, in the order of `LIVE_FIELDS`. */
export type Values = readonly LiveServer[LiveField][];

export interface Picture {
  /** The exporter's wall clock, in Unix seconds. */
  readonly time: number;
  readonly status: PanelsStatus;
  readonly servers: readonly ServerReading[];
  /**
   * The servers' values in parts. Of 10 parts, part 3 contains the servers at positions 3, 13, 23
   * and so on. The first picture reads all parts, and each later one reads one of them again.
   */
  readonly parts: readonly (readonly Values[])[];
  /** The number of pictures of the same servers before this one. */
  readonly turn: number;
}

/**
 * The number of servers that are read for one picture. A viewer of a large fleet therefore costs no
 * more than one of a small fleet, and each of 5,000 servers is read every 10 s.
 */
const SERVERS_A_TURN = 500;
/**
 * Only one in this many readings of a server includes its strip, which takes longer to read than
 * any other field and changes slowly.
 */
const LOOKS_PER_STRIP = 7;

/** The positions of these fields in a server's values. */
const [ATTENTION = -1, STATE = -1] = ['attention', 'state'].map((field) =>
  LIVE_FIELDS.findIndex(([name]) => name === field),
);

/** Takes a picture after the given one. Yields an empty block after every few servers. */
export function* takePicture(source: BoardSource, before?: Picture): Generator<'', Picture, void> {
  const { fleet, clock } = source;
  const now = clock.now();
  const servers = fleet.servers();
  const time = Math.round(clock.toUnixMs(now) / 1_000);
  const turns = Math.max(1, Math.ceil(servers.length / SERVERS_A_TURN));
  if (before?.servers !== servers) {
    const parts: (readonly Values[])[] = [];
    for (let part = 0; part < turns; part += 1)
      parts.push(yield* look(source, now, { part, turns, round: 0 }));
    return { time, status: panelsStatus(source), servers, parts, turn: 0 };
  }
  const turn = before.turn + 1;
  const part = turn % turns;
  const round = Math.floor(turn / turns);
  const status = part > 0 ? before.status : panelsStatus(source);
  const values = yield* look(source, now, { part, turns, round, known: before.parts[part] ?? [] });
  return { time, status, servers, parts: before.parts.with(part, values), turn };
}

interface Look {
  readonly part: number;
  readonly turns: number;
  /** How often each server was read before. */
  readonly round: number;
  /** The values of the previous reading. */
  readonly known?: readonly Values[];
}

/** Reads one part of the servers. */
function* look(
  { fleet, clock }: BoardSource,
  now: number,
  { part, turns, round, known = [] }: Look,
): Generator<'', readonly Values[], void> {
  const servers = fleet.servers();
  const places = [];
  for (let place = part; place < servers.length; place += turns) places.push(place);
  // One server at a time, so that each snapshot becomes garbage before the next one is made.
  return yield* inBlocks(places, (place, index): Values => {
    const server = servers[place];
    if (server === undefined) return [];
    const snapshot = server.snapshot(now, clock);
    const before = known[index];
    // A new problem or state also updates the strip, so that the strip never contradicts its row.
    const isDue =
      (place + round) % LOOKS_PER_STRIP === 0 ||
      countedProblem(snapshot) !== before?.[ATTENTION] ||
      snapshot.state !== before?.[STATE];
    return LIVE_FIELDS.map(([name, read], field) =>
      name === 'strip' && !isDue ? before?.[field] : read(snapshot, server, now),
    );
  });
}
