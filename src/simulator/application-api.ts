// The application API of a simulated panel, with which administrators list nodes.

import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { ApiGate, KeyPolicy } from './api-gate.ts';
import type { ApiContext, ApiHost } from './api-host.ts';
import { readPage } from './pages.ts';
import { json, pageDocument, refuse, type SimulatedAnswer } from './simulated-responses.ts';
import { nodeName } from './simulated-server.ts';
import type { NodeSpec } from './simulator-settings.ts';

/** The only key that the application API accepts. */
export const APPLICATION_KEY = 'ptla_SimulatedApplicationKey';

/** A client key is also accepted if it is an administrator's. */
export const APPLICATION_KEYS: KeyPolicy = {
  isKnown: (key, clientKeys) => key === APPLICATION_KEY || clientKeys.has(key),
  refusal: (key, clientKeys, { admin }) =>
    clientKeys.has(key) && !admin ? 'This account does not have permission to access the API.' : undefined,
};

/** The part of the panel's application API that lists nodes, as a Hono application. */
export function applicationApi(host: ApiHost, gate: ApiGate): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('/api/application/nodes', (context) =>
    gate.pass(context, { endpoint: 'nodes' }, () => nodes(host, context)),
  );
  return app;
}

const DEFAULT_PER_PAGE = 50;

async function nodes(host: ApiHost, context: ApiContext): Promise<SimulatedAnswer> {
  const place = readPage(host, context, DEFAULT_PER_PAGE);
  if (place === undefined) return refuse(400, 'page and per_page must be positive integers.');
  const document = (node: NodeSpec) => nodeDocument(node, host);
  return json(200, pageDocument(host.settings.nodes, place.page, place.perPage, document));
}

function nodeDocument(
  { cpu = 0, cpu_overallocate = 0, ...node }: NodeSpec,
  { fleet, settings }: ApiHost,
): object {
  const limits = fleet.all.filter((server) => nodeName(server) === node.name).map((server) => server.limits);
  const sum = (key: 'memory' | 'disk' | 'cpu') => limits.reduce((total, limit) => total + limit[key], 0);
  const isPelican = settings.panel === 'pelican';
  const extras = isPelican
    ? { cpu, cpu_overallocate, daemon_connect: 8_080, daemon_sftp_alias: null, tags: [] }
    : { location_id: 1 };
  return {
    object: 'node',
    attributes: {
      id: settings.nodes.findIndex(({ name }) => name === node.name) + 1,
      uuid: '0d4f2e31-5a16-4a8c-9d1c-0a5f3a5a2b10',
      public: true,
      description: null,
      fqdn: `${node.name}.example.com`,
      scheme: 'https',
      behind_proxy: false,
      upload_size: 100,
      daemon_listen: 8_080,
      daemon_sftp: 2_022,
      daemon_base: '/var/lib/pterodactyl/volumes',
      created_at: '2026-01-01T00:00:00+00:00',
      updated_at: '2026-01-01T00:00:00+00:00',
      ...node,
      ...extras,
      allocated_resources: {
        memory: sum('memory'),
        disk: sum('disk'),
        ...(isPelican && { cpu: sum('cpu') }),
      },
    },
  };
}
