// Reads the panel's nodes from its application API once per interval.

import { type Clock, NEVER } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { NodeCapacity } from '../domain/reading.ts';
import { repeat } from '../domain/repeated-work.ts';
import { VALID_INTERVALS } from '../domain/snapshot.ts';
import type { PanelApi } from '../panel/panel-api.ts';
import { toProblem } from '../panel/panel-error.ts';
import { printable } from '../text/printable.ts';
import type { Secret } from '../text/redaction.ts';
import { allPages } from './per-server-list.ts';

/** The settings for reading the panel's nodes, with a key for its application API. */
export interface NodesSettings {
  readonly apiKey: Secret;
  readonly intervalMs: number;
}

/** The part of the panel's API that this watch calls, with its own key. */
export type NodesApi = Pick<PanelApi, 'get' | 'close'>;

export interface NodeWatchOptions {
  readonly panel: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Opens the panel's API with this key. */
  readonly openNodes: (apiKey: Secret) => NodesApi;
}

/**
 * Reads the panel's nodes from its application API once per interval, with its own key, limit and
 * connections. A failure affects only this data, and is logged once.
 */
export class NodeWatch {
  readonly #options: NodeWatchOptions;
  #settings: NodesSettings | undefined;
  #nodes: readonly NodeCapacity[] = [];
  #staleAt = NEVER;
  /** The cause of the last failure; undefined after a success. */
  #cause: Problem['cause'] | undefined;
  #end = () => Promise.resolve();

  constructor(options: NodeWatchOptions) {
    this.#options = options;
  }

  /** The nodes from the last read, unless it is too old. */
  reading(now: number): readonly NodeCapacity[] {
    return now < this.#staleAt ? this.#nodes : [];
  }

  /** Reads the nodes with new settings. Undefined stops that and drops the nodes. */
  configure(settings: NodesSettings | undefined): void {
    const before = this.#settings;
    const isSameKey = before?.apiKey.reveal() === settings?.apiKey.reveal();
    if (isSameKey && before?.intervalMs === settings?.intervalMs) return;
    this.#settings = settings;
    if (settings === undefined) this.#staleAt = NEVER;
    this.reopen();
  }

  /** Reads at once, with new connections. */
  reopen(): void {
    void this.stop();
    const settings = this.#settings;
    if (settings === undefined) return;
    const api = this.#options.openNodes(settings.apiKey);
    this.#cause = undefined;
    const reads = repeat(this.#options.clock, (signal) => this.#read(api, settings, signal));
    this.#end = () => {
      reads.stop();
      return api.close();
    };
  }

  /** Resolves when its connections are closed. */
  stop(): Promise<void> {
    return this.#end();
  }

  /** Resolves with the time until the next read. */
  async #read(api: NodesApi, { intervalMs }: NodesSettings, signal: AbortSignal): Promise<number> {
    const read = await allNodes(api, signal).catch(toProblem);
    if (signal.aborted) return intervalMs;
    const problem = 'cause' in read ? read : undefined;
    if (!('cause' in read)) {
      this.#nodes = read;
      this.#staleAt = this.#options.clock.now() + intervalMs * VALID_INTERVALS;
    }
    this.#report(problem);
    return Math.max(intervalMs, problem?.retryAfterMs ?? 0);
  }

  /**
   * Logs a failure, unless the last one had the same cause, and the first success after a failure.
   */
  #report(problem: Problem | undefined): void {
    const { panel, log } = this.#options;
    if (problem?.cause === this.#cause) return;
    this.#cause = problem?.cause;
    if (problem === undefined) {
      log.info({ panel }, `panel ${panel}: list of nodes available again`);
      return;
    }
    const { cause, detail } = problem;
    const remedy = REFUSED.has(cause)
      ? "the key in `nodes.api_key_file` needs permission to read nodes (an application API key, or an administrator's key)"
      : 'retrying later';
    log.warn({ panel, cause, detail }, `panel ${panel}: list of nodes unavailable: ${detail}; ${remedy}`);
  }
}

const REFUSED = new Set<Problem['cause']>(['key_refused', 'application_key', 'unauthorized', 'forbidden']);

/**
 * Every node once, with its name as in the server list. The name is the only label, and panels
 * don't require it to be unique.
 */
async function allNodes(api: NodesApi, signal: AbortSignal): Promise<readonly NodeCapacity[]> {
  const pages = await allPages(async (page) => (await api.get('nodes', { page }, signal)).value);
  const byName = new Map<string, NodeCapacity>();
  for (const node of pages.flatMap(({ nodes }) => nodes)) {
    const name = printable(node.name);
    if (!byName.has(name)) byName.set(name, { ...node, name });
  }
  return [...byName.values()];
}
