/**
 * What a call is for; `probe` asks one server's resources for the panel's own sake, and `census` for a page of the listing before
 * it was ever read.
 */
export type CallKind = 'refresh' | 'probe' | 'census' | 'connect' | 'poll' | 'listing' | 'backups';

/** Higher goes first. The step is 2, so that a call which has to be run again fits in before its like. */
export const PRIORITY: Readonly<Record<CallKind, number>> = {
  refresh: 8,
  probe: 6,
  // Who there is to connect is known after a few of these; behind the connects they would wait for half an hour.
  census: 6,
  connect: 4,
  poll: 2,
  listing: 0,
  backups: -2,
};

/** Calls that may hang for long, because the panel asks a node or much of its database. */
export const isSlow = (kind: CallKind): boolean => SLOW.has(kind);

const SLOW: ReadonlySet<CallKind> = new Set(['census', 'poll', 'listing', 'backups']);

/** Calls to the endpoint that has a limit of its own for each server. */
export const asksForToken = (kind: CallKind): boolean => kind === 'refresh' || kind === 'connect';
