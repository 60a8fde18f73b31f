import type { ServerHistory } from '../data/protocol.ts';

/** The last minutes of the server with this key; undefined if the exporter is unreachable, which the stream shows. */
export async function fetchHistory(key: string): Promise<ServerHistory | undefined> {
  try {
    const response = await fetch(`api/v1/history?${new URLSearchParams({ server: key }).toString()}`);
    if (!response.ok) return undefined;
    const { servers } = (await response.json()) as { readonly servers: readonly ServerHistory[] };
    return servers[0];
  } catch {
    return undefined;
  }
}
