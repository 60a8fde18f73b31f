// The fields of a server in the page's stream.
import { CAUSES } from '../../diagnosis/causes.ts';
import type { ServerReading } from '../../domain/reading.ts';
import type { Snapshot } from '../../domain/snapshot.ts';
import { mainProblem } from './complaint.ts';
import { recentCrash } from './counted-problem.ts';
import { SHARED_FIELDS } from './shared-fields.ts';
import { SHOWN_NUMBERS, type ShownNumber } from './shown-numbers.ts';
import { stripText } from './strip-text.ts';

/** Samples that are older than this many seconds are shown with their age. */
const LIVE_SECONDS = 3;

/** The fields that `/api/v1` doesn't contain. */
const PAGE_FIELDS = {
  /** The scope of the problem's cause, such as `node`. */
  scope: (server) => {
    const problem = mainProblem(server);
    return problem && CAUSES[problem.cause].scope;
  },
  /** Whether it is a proxy, whose players are on other servers. */
  proxy: ({ target }) => target.isProxy,
  /** The last crash, if it was in the last hour. */
  last_crash: recentCrash,
  /** Its states in the last two hours, in the form of `stripText`. */
  strip: (_, reading, now) => stripText(reading.strip(now)),
  last_sample_timestamp_seconds: sampledAt,
} satisfies Readonly<Record<string, (server: Snapshot, reading: ServerReading, now: number) => unknown>>;

type Read<Fields extends Readonly<Record<string, (...facts: never) => unknown>>> = {
  readonly [Name in keyof Fields]: ReturnType<Fields[Name]>;
};

/** A server in the page's stream. */
export type LiveServer = Read<typeof SHARED_FIELDS & typeof PAGE_FIELDS> &
  Readonly<Record<ShownNumber, number | undefined>>;

export type LiveField = keyof LiveServer;

/** Derives a field from the snapshot of a server at an instant. */
type ReadField = (server: Snapshot, reading: ServerReading, now: number) => LiveServer[LiveField];

const NUMBERS = (Object.keys(SHOWN_NUMBERS) as readonly ShownNumber[]).map((name) => {
  const read: ReadField = ({ [name]: value }) => value && SHOWN_NUMBERS[name](value);
  return [name, read] as const;
});

/** Every field with its name and its reader. */
export const LIVE_FIELDS = Object.entries<ReadField>({
  ...SHARED_FIELDS,
  ...Object.fromEntries(NUMBERS),
  ...PAGE_FIELDS,
}) as readonly (readonly [name: LiveField, read: ReadField])[];

/** 0 while samples keep coming, so that a streaming server causes no changes here. */
function sampledAt(server: Snapshot): number | undefined {
  const { last_sample_timestamp_seconds: at, sample_age_seconds: age } = server;
  return age !== undefined && age < LIVE_SECONDS ? 0 : at && Math.floor(at);
}
