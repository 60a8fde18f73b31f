// Detects tokens of console sockets that became invalid because their node restarted.

import { NEVER } from '../domain/clock.ts';

/** A token of a console socket, with times in monotonic milliseconds. */
export interface DatedToken {
  /** When it arrived. */
  readonly fetchedAt: number;
  /** The end of the last socket on which a node accepted it; undefined if there was none. */
  readonly workedAt?: number;
}

/** A node's rejections of tokens. */
interface TokenRefusals {
  /** Tokens that were requested before this instant are outdated. */
  until: number;
  /** The latest rejection. */
  last?: { readonly server: string; readonly workedAt: number };
}

/**
 * A daemon rejects every token from before its start (wings, router/tokens). If it rejects a token
 * that worked until its socket ended, it probably started after that, and rejects other servers'
 * older tokens, too. However, it also rejects the tokens of a single server whose user lost a
 * permission. Two servers have to be rejected therefore, or one that tries its node's sockets for
 * all.
 */
export class OutdatedTokens {
  readonly #nodes = new Map<string, TokenRefusals>();

  /** Notes that the node rejected the server's token before its expiry. */
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

  /** Is the node likely to reject the token? */
  has(node: string | undefined, { fetchedAt }: DatedToken): boolean {
    return node !== undefined && fetchedAt <= (this.#nodes.get(node)?.until ?? NEVER);
  }

  /** Forgets all other nodes. */
  keep(nodes: ReadonlySet<string | undefined>): void {
    for (const node of this.#nodes.keys()) if (!nodes.has(node)) this.#nodes.delete(node);
  }
}
