// The HTTP interface with which other processes control a simulation.

import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Simulator } from './simulator-interface.ts';
import {
  backupEndSchema,
  conflictSchema,
  exitStateSchema,
  powerCommandSchema,
  restFaultSchema,
  serverSpecSchema,
  socketActionSchema,
  socketFaultSchema,
  usageSchema,
} from './simulator-schema.ts';
import { settingsChangeSchema } from './simulator-settings.ts';

const serverSchema = z.strictObject({ server: z.string() });

/**
 * The operations over HTTP, each a POST with a JSON body to `/control/<name>`. A server is given by
 * UUID, short id or name.
 */
const OPERATIONS = {
  'faults/rest': operation(restFaultSchema, (panel, fault) => panel.failRest(fault)),
  'faults/sockets': operation(socketFaultSchema, (panel, fault) => panel.failSockets(fault)),
  'faults/clear': operation(z.strictObject({}), (panel) => panel.clearFaults()),
  sockets: operation(socketActionSchema, (panel, action) => ({ sockets: panel.sockets(action) })),
  settings: operation(settingsChangeSchema, (panel, changes) => panel.set(changes)),
  servers: operation(serverSpecSchema, (panel, spec) => panel.addServer(spec)),
  'servers/:server/delete': operation(serverSchema, (panel, { server }) => panel.deleteServer(server)),
  'servers/:server/power': operation(
    serverSchema.extend({ action: powerCommandSchema }),
    (panel, { server, action }) => panel.power(server, action),
  ),
  'servers/:server/crash': operation(
    serverSchema.extend({ exit: exitStateSchema.optional() }),
    (panel, { server, exit }) => panel.crash(server, exit),
  ),
  'servers/:server/fill-disk': operation(
    serverSchema.extend({ stopsAfterMs: z.number().min(0).optional() }),
    (panel, { server, stopsAfterMs }) => panel.fillDisk(server, stopsAfterMs),
  ),
  'servers/:server/fail-starts': operation(
    serverSchema.extend({ times: z.int().min(0) }),
    (panel, { server, times }) => panel.failStarts(server, times),
  ),
  'servers/:server/print': operation(serverSchema.extend({ line: z.string() }), (panel, { server, line }) =>
    panel.print(server, line),
  ),
  'servers/:server/move': operation(
    serverSchema.extend({ sockets: z.enum(['keep', 'drop']).optional() }),
    (panel, { server, sockets }) => panel.move(server, sockets),
  ),
  'servers/:server/advertise': operation(
    serverSchema.extend({ address: z.string().nullable() }),
    (panel, { server, address }) => panel.advertise(server, address ?? undefined),
  ),
  'servers/:server/suspend': operation(serverSchema, (panel, { server }) => panel.suspend(server)),
  'servers/:server/unsuspend': operation(serverSchema, (panel, { server }) => panel.unsuspend(server)),
  'servers/:server/conflict': operation(
    serverSchema.extend({ conflict: conflictSchema.nullable() }),
    (panel, { server, conflict }) => panel.setConflict(server, conflict ?? undefined),
  ),
  'servers/:server/node-down': operation(
    serverSchema.extend({ down: z.boolean() }),
    (panel, { server, down }) => panel.setNodeDown(server, down),
  ),
  'servers/:server/backups': operation(
    backupEndSchema.extend({ server: z.string() }),
    (panel, { server, ...backup }) => panel.completeBackup(server, backup),
  ),
  'servers/:server/schedules': operation(
    serverSchema.extend({ stuck: z.boolean() }),
    (panel, { server, stuck }) => panel.setSchedulesStuck(server, stuck),
  ),
  'servers/:server/pin': operation(
    serverSchema.extend({ usage: usageSchema.nullable() }),
    (panel, { server, usage }) => panel.pin(server, usage ?? undefined),
  ),
  'keys/accept': operation(z.strictObject({ key: z.string().min(1) }), (panel, { key }) =>
    panel.acceptKey(key),
  ),
  'keys/revoke': operation(z.strictObject({ key: z.string().min(1) }), (panel, { key }) =>
    panel.revokeKey(key),
  ),
  listening: operation(z.strictObject({ listening: z.boolean() }), (panel, { listening }) =>
    listening ? panel.startListening() : panel.stopListening(),
  ),
  'record/clear': operation(z.strictObject({}), (panel) => panel.record.clear()),
} satisfies Record<string, Operation>;

interface Operation {
  /** The schema of the body. */
  readonly schema: z.ZodType;
  /** Validates the body and executes the operation. Returns the response body. */
  readonly perform: (panel: Simulator, body: unknown) => unknown;
}

function operation<Schema extends z.ZodType>(
  schema: Schema,
  act: (panel: Simulator, body: z.infer<Schema>) => unknown,
): Operation {
  return { schema, perform: (panel, body) => act(panel, schema.parse(body)) };
}

/** The control endpoint: all operations of the in-process API, as JSON over HTTP. */
export function controlApi(panel: Simulator): Hono {
  const app = new Hono();
  app.get('/control/record', (context) => context.json(panel.record.snapshot()));
  app.get('/control/servers', (context) => context.json(panel.servers));
  app.get('/control/schema', (context) => context.json(schemas()));
  for (const [path, { perform }] of Object.entries(OPERATIONS)) {
    app.post(`/control/${path}`, async (context) => {
      const server = context.req.param('server');
      const body = { ...(await readBody(context)), ...(server !== undefined && { server }) };
      const result = await perform(panel, body);
      return context.json(result ?? { ok: true });
    });
  }
  app.notFound((context) =>
    context.json(
      { error: 'not found', operations: Object.keys(OPERATIONS).map((path) => `/control/${path}`) },
      404,
    ),
  );
  app.onError((error, context) => {
    const message = error instanceof z.ZodError ? z.prettifyError(error) : error.message;
    return context.json({ error: 'bad request', message }, 400);
  });
  return app;
}

/** The JSON Schema of each operation's body. */
function schemas(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(OPERATIONS).map(([path, { schema }]) => [path, z.toJSONSchema(schema)]),
  );
}

/** The JSON body. A missing body counts as an empty object. */
async function readBody(context: Context): Promise<object> {
  const text = await context.req.text();
  if (text === '') return {};
  const quoted = `"${text.slice(0, 80)}"`;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Error(`the body is not JSON: ${quoted}`, { cause: error });
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new Error(`the body is not a JSON object: ${quoted}`);
}
