// Knows which tokens of console sockets a node refuses because it restarted after they were issued.

import { NEVER } from '../domain/time.ts';

/** A token of a console socket, with times in monotonic milliseconds. */
export interface DatedToken {
  /** When it arrived. */
  readonly fetchedAt: number;
  /** The end of the last socket on which a node accepted it; undefined if there was none. */
  readonly workedAt?: number;
}

/** The refused tokens of a node. */
interface Refusals {
  /** Tokens that were fetched until then are outdated. */
  until: number;
  /** The last refusal. */
  last?: { readonly server: string; readonly workedAt: number };
}

/**
 * A daemon refuses every token from before its start (wings, router/tokens). A refused token that
 * worked until its socket ended is evidence that the daemon started after that, and refuses the
 * tokens of its other servers that are older. It also refuses tokens of a single server whose user
 * lost a permission: that is why two servers have to be refused, or one that tries its node's
 * sockets for all others.
 */
export class OutdatedTokens {
  readonly #nodes = new Map<string, Refusals>();

  /** The node refused the server's token, though it should have lasted. */
  refused(node: string | undefined, server: string, token: DatedToken, isTrial: boolean): void {
    if (node === undefined) return;
    const refusals = this.#nodes.get(node) ?? { until: NEVER };
    const { last } = refusals;
    const workedAt = token.workedAt ?? token.fetchedAt;
    if (isTrial) refusals.until = Math.max(refusals.until, workedAt);
    else if (last !== undefined && last.server !== server)
      refusals.until = Math.max(refusals.until, Math.min(last.workedAt, workedAt));
    refusals.last = { server, workedAt };
    this.#nodes.set(node, refusals);
  }

  /** Will the node probably refuse the token? */
  has(node: string | undefined, { fetchedAt }: DatedToken): boolean {
    return node !== undefined && fetchedAt <= (this.#nodes.get(node)?.until ?? NEVER);
  }

  /** Forgets all other nodes. */
  keep(nodes: ReadonlySet<string | undefined>): void {
    for (const node of this.#nodes.keys()) if (!nodes.has(node)) this.#nodes.delete(node);
  }
}
