/** The addresses of nodes' console sockets, as given by the panel. */

/** The last address of each node. Only the path of a socket's address contains the server. */
export class SocketAddresses {
  readonly #addresses = new Map<string, string>();

  /** Is this the node's latest address, as far as is known? */
  isCurrent(node: string | undefined, url: string): boolean {
    const address = node === undefined ? undefined : this.#addresses.get(node);
    return address === undefined || address === urlAddress(url);
  }

  /** Notes an address from the panel. Returns the node's previous one, if it differs. */
  note(node: string | undefined, url: string): string | undefined {
    if (node === undefined || !URL.canParse(url)) return undefined;
    const address = urlAddress(url);
    const before = this.#addresses.get(node);
    this.#addresses.set(node, address);
    return before === address ? undefined : before;
  }

  /**
   * Notes that a server of the node streams at this address. The panel may have given it before the
   * node was known; a later address takes precedence.
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
