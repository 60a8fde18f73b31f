// The text of a state file: lines of JSON, with the version first and a checksum last.

import { createHash } from 'node:crypto';
import type { KeptPower, KeptServer, KeptStop, KeptStrip, KeptUptime } from '../domain/kept-server.ts';
import { SERVER_STATES } from '../domain/power-states.ts';
import { STOP_REASONS } from '../domain/stops.ts';

const FORMAT = 'gameserver-exporter state';
const VERSION = 1;

/** The maximum length of a server's line, in characters. */
export const MAX_LINE = 1_000;

/** Servers per block of text. A block takes less than a millisecond. */
const BLOCK_SERVERS = 16;

/** The text of a state file, in blocks that are bounded pieces of work. */
export function* stateText(servers: Iterable<KeptServer>): Generator<string, void, void> {
  const hash = createHash('sha256');
  let block = `${JSON.stringify({ format: FORMAT, version: VERSION })}\n`;
  let [count, panel] = [0, ''];
  for (const server of servers) {
    // The servers of a panel follow each other, so its name is written once.
    if (count === 0 || server.panel !== panel) block += `${JSON.stringify({ panel: server.panel })}\n`;
    panel = server.panel;
    block += `${writeServer(server)}\n`;
    count += 1;
    if (count % BLOCK_SERVERS > 0) continue;
    hash.update(block);
    yield block;
    block = '';
  }
  hash.update(block);
  yield `${block}${JSON.stringify({ servers: count, sha256: hash.digest('hex') })}\n`;
}

/** A server as one line, without the oldest stops if it would be too long. */
function writeServer({ id, seenAt, power, uptime, unwantedStops = [], strip }: KeptServer): string {
  for (let from = 0; ; from += 1) {
    const stops = unwantedStops.slice(from).map(stopItems);
    const line = JSON.stringify({
      id,
      seen: seenAt,
      power: power && powerItems(power),
      uptime: uptime && uptimeItems(uptime),
      stops: stops.length === 0 ? undefined : stops,
      strip: strip && [strip.ago, strip.steps],
    });
    if (line.length <= MAX_LINE || stops.length === 0) return line;
  }
}

const [OWES_START, EXPECTED, NOT_EXPECTED, RESTART_ABORTED] = [1, 2, 4, 8];

// Lists instead of named fields, because a server may use 1 kB at most. JSON turns undefined into
// null.
function powerItems(power: KeptPower): readonly unknown[] {
  const { isExpected } = power;
  const flags = [
    power.owesStart === true ? OWES_START : 0,
    isExpected === undefined ? 0 : isExpected ? EXPECTED : NOT_EXPECTED,
    power.isRestartAborted === true ? RESTART_ABORTED : 0,
  ];
  return [
    SERVER_STATES.indexOf(power.state),
    power.sinceAgo,
    flags.reduce((sum, flag) => sum + flag, 0),
    power.startedAgo,
    power.offSeenFromAgo,
    power.exitedAgo,
    power.diskFullAgo,
    power.lastExitCode,
    power.lastStop && stopItems(power.lastStop),
  ];
}

function uptimeItems({ uptimeMs, source, receivedAgo, measuredFromAgo }: KeptUptime): readonly unknown[] {
  return [uptimeMs, SOURCES.indexOf(source), receivedAgo, measuredFromAgo];
}

const SOURCES = ['socket', 'poll'] as const;

function stopItems({ ago, reason, exitCode, whileDown }: KeptStop): readonly unknown[] {
  const items = [ago, STOP_REASONS.indexOf(reason)];
  return whileDown ? [...items, exitCode, 1] : exitCode === undefined ? items : [...items, exitCode];
}

/** The servers in a state file, or why it is unreadable. */
export type ReadState =
  | { readonly servers: readonly KeptServer[] }
  | { readonly problem: 'damaged' | 'of a later version' };

/** Reads the text of a state file, completely or not at all. */
export function readStateText(text: string): ReadState {
  const lines = text.split('\n');
  const header = parseJson(lines[0]);
  if (isObject(header) && header['format'] === FORMAT && Number(header['version']) > VERSION)
    return { problem: 'of a later version' };
  const servers = isObject(header) && header['version'] === VERSION ? serversIn(text, lines) : undefined;
  return servers === undefined ? { problem: 'damaged' } : { servers };
}

function serversIn(text: string, lines: readonly string[]): readonly KeptServer[] | undefined {
  const footer = parseJson(lines.at(-2));
  if (lines.at(-1) !== '' || !isObject(footer)) return undefined;
  const checked = text.slice(0, text.length - (lines.at(-2)?.length ?? 0) - 1);
  if (createHash('sha256').update(checked).digest('hex') !== footer['sha256']) return undefined;
  const servers: KeptServer[] = [];
  let panel: unknown;
  // Parsing all lines at once is much faster than line by line.
  const values = parseJson(`[${lines.slice(1, -2).join(',')}]`);
  for (const value of Array.isArray(values) ? (values as readonly unknown[]) : []) {
    if (!isObject(value)) return undefined;
    if ('panel' in value) {
      ({ panel } = value);
      continue;
    }
    const server = readServer(value, panel);
    if (server === undefined) return undefined;
    servers.push(server);
  }
  return servers.length === footer['servers'] ? servers : undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(line = ''): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Thrown if another program wrote the file, with a valid checksum. */
class Unreadable extends Error {}

function readServer(value: JsonObject, panel: unknown): KeptServer | undefined {
  const { id, seen, power, uptime, stops, strip } = value;
  if (typeof panel !== 'string' || typeof id !== 'string') return undefined;
  try {
    return {
      panel,
      id,
      seenAt: readNumber(seen),
      power: power === undefined ? undefined : readPower(power),
      uptime: uptime === undefined ? undefined : readUptime(uptime),
      unwantedStops: stops === undefined ? undefined : readList(stops).map(readStop),
      strip: strip === undefined ? undefined : readStrip(strip),
    };
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unreadable();
  return value;
}

function readNumber(value: unknown): number {
  if (typeof value !== 'number') throw new Unreadable();
  return value;
}

function optional(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : readNumber(value);
}

function readItem<Item>(items: readonly Item[], index: unknown): Item {
  const item = items[readNumber(index)];
  if (item === undefined) throw new Unreadable();
  return item;
}

function readPower(value: unknown): KeptPower {
  const [state, sinceAgo, givenFlags, startedAgo, offSeenFromAgo, exitedAgo, diskFullAgo, code, stop] =
    readList(value);
  const flags = readNumber(givenFlags);
  const has = (flag: number) => (flags & flag) !== 0;
  return {
    state: readItem(SERVER_STATES, state),
    sinceAgo: readNumber(sinceAgo),
    startedAgo: optional(startedAgo),
    offSeenFromAgo: optional(offSeenFromAgo),
    exitedAgo: optional(exitedAgo),
    diskFullAgo: optional(diskFullAgo),
    owesStart: has(OWES_START) || undefined,
    isExpected: has(EXPECTED) ? true : has(NOT_EXPECTED) ? false : undefined,
    isRestartAborted: has(RESTART_ABORTED) || undefined,
    lastExitCode: optional(code),
    lastStop: stop === null || stop === undefined ? undefined : readStop(stop),
  };
}

function readUptime(value: unknown): KeptUptime {
  const [uptimeMs, source, receivedAgo, measuredFromAgo] = readList(value);
  return {
    uptimeMs: readNumber(uptimeMs),
    source: readItem(SOURCES, source),
    receivedAgo: readNumber(receivedAgo),
    measuredFromAgo: readNumber(measuredFromAgo),
  };
}

function readStop(value: unknown): KeptStop {
  const [ago, reason, exitCode, whileDown] = readList(value);
  return {
    ago: readNumber(ago),
    reason: readItem(STOP_REASONS, reason),
    exitCode: optional(exitCode),
    whileDown: whileDown === 1 || undefined,
  };
}

function readStrip(value: unknown): KeptStrip {
  const [ago, steps] = readList(value);
  if (typeof steps !== 'string') throw new Unreadable();
  return { ago: readNumber(ago), steps };
}
