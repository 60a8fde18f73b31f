/** What a call is for; `probe` asks one server's resources for the panel's own sake. */
export type CallKind = 'refresh' | 'probe' | 'connect' | 'poll' | 'listing';

/** Higher goes first. The step is 2, so that a call which has to be run again fits in before its like. */
export const PRIORITY: Readonly<Record<CallKind, number>> = {
  refresh: 8,
  probe: 6,
  connect: 4,
  poll: 2,
  listing: 0,
};

/** Calls that may hang for long, because the panel asks a node or much of its database. */
export const isSlow = (kind: CallKind): boolean => kind === 'poll' || kind === 'listing';

/** Calls to the endpoint that has a limit of its own for each server. */
export const asksForToken = (kind: CallKind): boolean => kind === 'refresh' || kind === 'connect';
