// The key of a server in the page's address.
import type { LiveServer } from '../data/live-fields.ts';

/** The server's key in the exporter. */
export function serverKey({ panel, server_id: id }: LiveServer): string {
  return `${panel}/${id}`;
}
