// The fields of a server, besides its numbers, on both the page and in `/api/v1/servers`.

import { shortId } from '../../domain/server-ids.ts';
import type { Snapshot } from '../../domain/snapshot.ts';
import { findComplaint, mainProblem } from './complaint.ts';
import { countedProblem } from './counted-problem.ts';

/** The reader of each field. */
export const SHARED_FIELDS = {
  panel: ({ target }) => target.panel,
  server: ({ target }) => target.name,
  server_id: ({ target }) => shortId(target),
  uuid: ({ target }) => target.uuid,
  node: ({ node }) => node,
  egg: ({ target }) => target.egg,
  /** The user's labels. */
  labels: ({ target }) => target.labels,
  state: ({ state }) => state,
  condition: ({ condition }) => condition,
  blocked: ({ blocked }) => blocked,
  source: ({ source }) => source,
  /** The code of the server's main problem. */
  cause: (server) => mainProblem(server)?.cause,
  attention: countedProblem,
  complaint: findComplaint,
  last_stop: (server) => server.last_stop,
} satisfies Readonly<Record<string, (server: Snapshot) => unknown>>;

/** The shared fields of a server, by name. */
export function readSharedFields(server: Snapshot): Readonly<Record<string, unknown>> {
  const fields = Object.entries<(server: Snapshot) => unknown>(SHARED_FIELDS);
  return Object.fromEntries(fields.map(([name, read]) => [name, read(server)]));
}
