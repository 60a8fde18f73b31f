import type { Problem } from '../domain/problem.ts';
import type { BudgetReading } from '../domain/reading.ts';
import type { Circuit } from './circuit.ts';
import type { BackupsPage, Credentials, ListingPage, ListingQuery, Resources, Schedule } from './dialect.ts';
import type { CircuitKey } from './gate.ts';
import type { PanelHealth, PanelUse } from './judge.ts';

/** One call for a server, as its session asks for it. */
export interface Ask {
  /** The server's node, if that is known by then. */
  readonly node: () => string | undefined;
  /** By when the answer is needed, in monotonic milliseconds: calls with earlier deadlines go first. */
  readonly deadline: number;
  /** Did the server fail alone several times, so that this call probably fails as well? */
  readonly isRetry?: () => boolean;
  /** The token is for a socket that is open, so it doesn't matter whether the node accepts others. */
  readonly isRefresh?: boolean;
}

/**
 * One panel as sessions use it: every call waits until its circuits admit it and the rate limit has room. Calls reject with a
 * `PanelError`, or at once with the signal's reason when that aborts.
 */
export interface PanelGateway {
  readonly health: PanelHealth;
  /** The problem of the panel as a whole, including its API key; undefined while calls are let through. */
  readonly problem: Problem | undefined;
  /** The panel's problem; while it works, those of its consoles, paths and rate limit. */
  readonly problems: readonly Problem[];
  /** At most two a minute are made for each server. */
  credentials(server: string, ask: Ask, signal: AbortSignal): Promise<Credentials>;
  resources(server: string, ask: Ask, signal: AbortSignal): Promise<Resources>;
  listing(query: ListingQuery, deadline: number, signal: AbortSignal): Promise<ListingPage>;
  /** A server's schedules. */
  schedules(server: string, deadline: number, signal: AbortSignal): Promise<readonly Schedule[]>;
  /** One page of a server's backups. */
  backups(server: string, page: number, deadline: number, signal: AbortSignal): Promise<BackupsPage>;
  /** Do this node's sockets work, as far as is known? */
  isSocketOpen(node: string | undefined): boolean;
  /** Resolves when the sockets of the server's node may be tried. */
  admitSocket(server: string, ask: Ask, signal: AbortSignal): Promise<void>;
  /** An attempt to stream the server ended: with success (undefined), a problem of its node, or without showing anything. */
  socketEnded(server: string, node: string | undefined, end: Problem | 'withdrawn' | undefined): void;
  /** Why no socket of this node is opened for now: a problem of the panel, the path, the account or the node. */
  socketHold(node: string | undefined): Problem | undefined;
  /** Why servers of this node aren't polled for now. */
  pollHold(node: string | undefined): Problem | undefined;
  /** The problem of the node itself. */
  nodeProblem(node: string): Problem | undefined;
  budget(): BudgetReading;
  setUse(use: PanelUse): void;
  /** The API key changed: everything held against the panel or the old key is forgotten. */
  keyChanged(): void;
  /** Judges a panel of unknown health now; resolves once that is known, or no call could show it. */
  verify(): Promise<void>;
  /** Calls the listener after a circuit changed; returns a function that unsubscribes, as do the next two. */
  onCircuit(listener: (key: CircuitKey, state: Circuit['state']) => void): () => void;
  /** Calls the listener when the health, the problems or the rate may have changed. */
  onChange(listener: () => void): () => void;
  /** Calls the listener with the milliseconds for which all calls are paused because the rate limit is exceeded. */
  onPause(listener: (durationMs: number) => void): () => void;
  /** Rejects every call, whether waiting or running, and closes the connections. */
  close(): Promise<void>;
}
