// The changes of the page's data, in the form of the stream.
import { arrayText, inBlocks } from './blocks.ts';
import { LIVE_FIELDS, type LiveField } from './live-fields.ts';
import type { PanelsStatus } from './panel-status.ts';
import type { Picture, Values } from './picture.ts';

/**
 * An update: all values in the event `full`, or the changes since the previous update in the event
 * `delta`.
 */
export interface LiveUpdate {
  /** The exporter's version. */
  readonly version: string;
  readonly time: number;
  /** Absent if unchanged. */
  readonly status?: PanelsStatus;
  /** The number of servers. */
  readonly size: number;
  /**
   * The changed fields: the positions of the servers (null: all servers), and their new values
   * (null: unknown).
   */
  readonly changes: readonly (readonly [
    field: LiveField,
    places: readonly number[] | null,
    values: readonly unknown[],
  ])[];
}

/**
 * The differences between two pictures of the same servers, as the JSON of a `LiveUpdate` in blocks
 * of text.
 */
export function* updateText(
  version: string,
  before: Picture | undefined,
  after: Picture,
): Generator<string, void, void> {
  const { time, status, servers } = after;
  const changed = yield* changedPlaces(before, after);
  const isChanged = before?.status !== status && JSON.stringify(before?.status) !== JSON.stringify(status);
  const head = { version, time, size: servers.length, ...(isChanged && { status }) };
  yield `${JSON.stringify(head).slice(0, -1)},"changes":[`;
  let separator = '';
  for (const [field, [name]] of LIVE_FIELDS.entries()) {
    const some = changed[field] ?? [];
    if (some.length === 0) continue;
    const isMost = some.length * 2 > servers.length;
    yield `${separator}["${name}",`;
    yield* isMost ? ['null'] : arrayText(some, (place) => place);
    yield ',';
    yield* arrayText(isMost ? [...servers.keys()] : some, (place) => valuesAt(after, place)?.[field]);
    yield ']';
    separator = ',';
  }
  yield ']}';
}

/**
 * For each field, the positions of the servers with a new value. Only parts that were read again
 * are compared.
 */
function* changedPlaces(
  before: Picture | undefined,
  { parts }: Picture,
): Generator<'', readonly (readonly number[])[], void> {
  const changed = LIVE_FIELDS.map((): number[] => []);
  for (const [part, servers] of parts.entries()) {
    const others = before?.parts[part];
    if (servers === others) continue;
    yield* inBlocks(servers, (values, index) => {
      const place = part + index * parts.length;
      const other = others?.[index];
      for (let field = 0; field < values.length; field += 1) {
        if (!isSame(values[field], other?.[field])) changed[field]?.push(place);
      }
    });
  }
  return changed;
}

function valuesAt({ parts }: Picture, place: number): Values | undefined {
  return parts[place % parts.length]?.[Math.floor(place / parts.length)];
}

function isSame(one: Values[number], other: Values[number]): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}
