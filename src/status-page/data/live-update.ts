import type { ServerReading, WallClock } from '../../domain/reading.ts';
import { arrayText, blocksOf, joined } from './json-text.ts';
import { LIVE_FIELDS, type LiveField, type LiveServer } from './live-server.ts';
import type { PanelsStatus } from './panel-status.ts';

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
export interface LiveUpdate extends Partial<PanelsStatus> {
  /** The exporter's. */
  readonly version: string;
  readonly time: number;
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
export function* takePicture(
  servers: readonly ServerReading[],
  status: PanelsStatus,
  now: number,
  clock: WallClock,
): Generator<'', Picture, void> {
  const values: (readonly Value[])[] = [];
  // One server at a time, so that a snapshot is garbage before the next one is made.
  for (const block of blocksOf(servers)) {
    for (const server of block) {
      const snapshot = server.snapshot(now, clock);
      values.push(LIVE_FIELDS.map(([, read]) => read(snapshot, server, now)));
    }
    yield '';
  }
  return { time: Math.round(clock.toUnixMs(now) / 1_000), status, servers, values };
}

/** The differences between two pictures of the same servers as the JSON of a `LiveUpdate`, in blocks of text. */
export function* updateText(
  version: string,
  before: Picture | undefined,
  after: Picture,
): Generator<string, void, void> {
  const changed = LIVE_FIELDS.map((): number[] => []);
  const places = [...after.values.keys()];
  for (const block of blocksOf(places)) {
    for (const place of block)
      noteChanges(changed, place, before?.values[place] ?? [], after.values[place] ?? []);
    yield '';
  }
  const { time, status, values } = after;
  const isChanged = JSON.stringify(before?.status) !== JSON.stringify(status);
  const head = { version, time, size: places.length, ...(isChanged && status) };
  const changes = LIVE_FIELDS.flatMap(([name], field): Iterable<string>[] => {
    const some = changed[field] ?? [];
    if (some.length === 0) return [];
    const isMost = some.length * 2 > places.length;
    const valuesText = arrayText(isMost ? places : some, (place) => values[place]?.[field]);
    return [
      joined([[JSON.stringify(name)], isMost ? ['null'] : arrayText(some, (place) => place), valuesText]),
    ];
  });
  yield `${JSON.stringify(head).slice(0, -1)},"changes":`;
  yield* joined(changes);
  yield '}';
}

function noteChanges(
  changed: readonly number[][],
  place: number,
  before: readonly Value[],
  after: readonly Value[],
): void {
  for (let field = 0; field < after.length; field += 1) {
    if (!isSame(after[field], before[field])) changed[field]?.push(place);
  }
}

function isSame(one: Value, other: Value): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return JSON.stringify(one) === JSON.stringify(other);
}
