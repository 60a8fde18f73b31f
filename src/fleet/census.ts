import { printable } from '../domain/printable.ts';
import type { ListedServer } from '../panel/decode-listing.ts';

/** A listed server, and how many complete walks in a row were without it. */
export interface CensusEntry {
  readonly server: ListedServer;
  readonly missed: number;
}

/** Every server that the listing is known to hold, by UUID. */
export type Census = ReadonlyMap<string, CensusEntry>;

/** What one walk through the listing's pages found. */
export interface Walk {
  readonly servers: readonly ListedServer[];
  /** Every page was had, and every entry on them could be read. */
  readonly complete: boolean;
}

/**
 * Walks that have to be without a server before it is gone. The listing has no stable order and pages shift while they are read, so
 * that a single walk may pass a server by.
 */
const WALKS_TO_VANISH = 2;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The census after a walk: what was found is there, with what is said of it now; what an incomplete walk didn't find stays as
 * it was.
 */
export function afterWalk(census: Census, { servers, complete }: Walk): Census {
  const next = new Map<string, CensusEntry>();
  for (const [uuid, { server, missed }] of census) {
    const missedNow = complete ? missed + 1 : missed;
    if (missedNow < WALKS_TO_VANISH) next.set(uuid, { server, missed: missedNow });
  }
  for (const server of servers) next.set(server.uuid, { server, missed: 0 });
  return next;
}

/** Is there a server that the last walks passed by, so that another should tell whether it is gone? */
export function hasDoubts(census: Census): boolean {
  for (const { missed } of census.values()) if (missed > 0) return true;
  return false;
}

/** The server with words that can be labels; undefined where its UUID is none. */
export function presentable(server: ListedServer): ListedServer | undefined {
  const uuid = server.uuid.toLowerCase();
  if (!UUID.test(uuid)) return undefined;
  const { node, egg, ...rest } = server;
  const shown = { node: shownText(node), egg: shownText(egg) };
  return {
    ...rest,
    uuid,
    identifier: shownText(server.identifier) ?? uuid.slice(0, 8),
    name: shownText(server.name) ?? uuid.slice(0, 8),
    ...(shown.node !== undefined && { node: shown.node }),
    ...(shown.egg !== undefined && { egg: shown.egg }),
  };
}

function shownText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : printable(text) || undefined;
}
