import type { ServerReading } from '../../domain/reading.ts';
import { arrayText, inBlocks } from './json-text.ts';
import { LIVE_FIELDS, type LiveField, type LiveServer } from './live-server.ts';
import { type BoardSource, type PanelsStatus, panelsStatus } from './panel-status.ts';

type Value = LiveServer[LiveField];

/** The fleet at one instant, as the page shows it. */
export interface Picture {
  /** The exporter's wall clock, in Unix seconds. */
  readonly time: number;
  readonly status: PanelsStatus;
  readonly servers: readonly ServerReading[];
  /** The values of each server, in the order of `LIVE_FIELDS`. */
  readonly values: readonly (readonly Value[])[];
}

/** What changed in the page's data: from nothing in the event `full`, since the update before in the event `delta`. */
export interface LiveUpdate {
  /** The exporter's. */
  readonly version: string;
  readonly time: number;
  /** Absent if it is the same. */
  readonly status?: PanelsStatus;
  /** The number of servers. */
  readonly size: number;
  /** The fields that changed: the places of the servers, null for all of them, and their new values; null if unknown. */
  readonly changes: readonly (readonly [
    field: LiveField,
    places: readonly number[] | null,
    values: readonly unknown[],
  ])[];
}

/** Takes a picture, a few servers between two blocks; the blocks are empty. */
export function* takePicture(source: BoardSource): Generator<'', Picture, void> {
  const { fleet, clock } = source;
  const now = clock.now();
  const servers = fleet.servers();
  const status = panelsStatus(source);
  // One server at a time, so that a snapshot is garbage before the next one is made.
  const values = yield* inBlocks(servers, (server) => {
    const snapshot = server.snapshot(now, clock);
    return LIVE_FIELDS.map(([, read]) => read(snapshot, server, now));
  });
  return { time: Math.round(clock.toUnixMs(now) / 1_000), status, servers, values };
}

/** The differences between two pictures of the same servers as the JSON of a `LiveUpdate`, in blocks of text. */
export function* updateText(
  version: string,
  before: Picture | undefined,
  after: Picture,
): Generator<string, void, void> {
  const { time, status, values } = after;
  const changed = LIVE_FIELDS.map((): number[] => []);
  const places = [...values.keys()];
  yield* inBlocks(places, (place) => {
    const [one = [], other = []] = [values[place], before?.values[place]];
    for (let field = 0; field < one.length; field += 1) {
      if (!isSame(one[field], other[field])) changed[field]?.push(place);
    }
  });
  const isChanged = JSON.stringify(before?.status) !== JSON.stringify(status);
  const head = { version, time, size: places.length, ...(isChanged && { status }) };
  yield `${JSON.stringify(head).slice(0, -1)},"changes":[`;
  let separator = '';
  for (const [field, [name]] of LIVE_FIELDS.entries()) {
    const some = changed[field] ?? [];
    if (some.length === 0) continue;
    const isMost = some.length * 2 > places.length;
    yield `${separator}["${name}",`;
    yield* isMost ? ['null'] : arrayText(some, (place) => place);
    yield ',';
    yield* arrayText(isMost ? places : some, (place) => values[place]?.[field]);
    yield ']';
    separator = ',';
  }
  yield ']}';
}

function isSame(one: Value, other: Value): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return JSON.stringify(one) === JSON.stringify(other);
}
