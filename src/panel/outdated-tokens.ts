// Knows which tokens of console sockets a node refuses because it restarted after they were issued.

import { NEVER } from '../domain/time.ts';

/** A token of a console socket, with the time at which it arrived, in monotonic milliseconds. */
export interface DatedToken {
  readonly fetchedAt: number;
}

/** The refused tokens of a node. */
interface Refusals {
  /** Tokens that were fetched until then are outdated. */
  until: number;
  /** The last refusal. */
  last?: { readonly server: string; readonly fetchedAt: number };
}

/**
 * A daemon refuses every token from before its start (wings, router/tokens), so a refused token of
 * one server is evidence about older tokens of its others. It also refuses tokens of a single
 * server whose user lost a permission: that is why two servers have to be refused, or one that
 * tries its node's sockets for all others.
 */
export class OutdatedTokens {
  readonly #nodes = new Map<string, Refusals>();

  /** The node refused the server's token, though it should have lasted. */
  refused(node: string | undefined, server: string, { fetchedAt }: DatedToken, isTrial: boolean): void {
    if (node === undefined) return;
    const refusals = this.#nodes.get(node) ?? { until: NEVER };
    const { last } = refusals;
    if (isTrial) refusals.until = Math.max(refusals.until, fetchedAt);
    else if (last !== undefined && last.server !== server)
      refusals.until = Math.max(refusals.until, Math.min(last.fetchedAt, fetchedAt));
    refusals.last = { server, fetchedAt };
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
