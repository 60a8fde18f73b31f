/** The addresses that a panel gives for its nodes' console sockets. */

/** The last address of each node; the path of a socket's address contains the server. */
export class SocketAddresses {
  readonly #addresses = new Map<string, string>();

  /** Does the panel still give this address for the node's sockets, as far as is known? */
  isCurrent(node: string | undefined, url: string): boolean {
    const address = node === undefined ? undefined : this.#addresses.get(node);
    return address === undefined || address === urlAddress(url);
  }

  /** The panel gave this address; returns the one that the node had before, if it is another. */
  note(node: string | undefined, url: string): string | undefined {
    if (node === undefined || !URL.canParse(url)) return undefined;
    const address = urlAddress(url);
    const before = this.#addresses.get(node);
    this.#addresses.set(node, address);
    return before === address ? undefined : before;
  }

  /**
   * A server of the node streams at this address. The panel may have given it before the node was
   * known; an address that it gave since counts more.
   */
  streams(node: string | undefined, url: string): void {
    if (node !== undefined && !this.#addresses.has(node)) this.note(node, url);
  }

  /** Forgets all other nodes. */
  keep(nodes: ReadonlySet<string | undefined>): void {
    for (const node of this.#addresses.keys()) if (!nodes.has(node)) this.#addresses.delete(node);
  }
}

function urlAddress(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
