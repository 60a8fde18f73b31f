// The exporter's sessions for the benchmark `connect`, with a panel that grants tokens at once.
import { readFile } from 'node:fs/promises';
import { systemNames } from '../../src/addresses/name-lookups.ts';
import { openLog } from '../../src/app/log.ts';
import { socketAccess, spokenDialect } from '../../src/app/panel-access.ts';
import { parseConfig } from '../../src/config/parse.ts';
import { SystemClock } from '../../src/domain/clock.ts';
import type { ServerTarget } from '../../src/domain/server.ts';
import { serverLog } from '../../src/fleet/server-log.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { sessionLog } from '../../src/fleet/session-log.ts';
import { ConnectPacer, NODE_LOOP } from '../../src/session/connect-pacer.ts';
import { Session } from '../../src/session/session.ts';
import type { SessionContext, SessionRecord } from '../../src/session/session-ports.ts';
import { NOTHING_KNOWN, type Surroundings } from '../../src/session/surroundings.ts';
import { type TimeTaken, timeOf } from './process-time.ts';

export interface ConnectingOptions {
  /** The address of the node's sockets, without a path. */
  readonly url: string;
  readonly servers: number;
  /** The path of the node's certificate. */
  readonly caFile?: string | undefined;
}

/** The functions of both clients. */
export interface ConnectingProgram {
  [name: string]: (profile: string | undefined) => Promise<TimeTaken>;
  /** Connects all servers. */
  connect(profile: string | undefined): Promise<TimeTaken>;
  /** Is called before all sockets are lost. Resolves when every server streams again. */
  reconnect(profile: string | undefined): Promise<TimeTaken>;
}

const STALENESS = { socket: 60_000, poll: 60_000 };
const TOKEN_LIVES_MS = 600_000;

/**
 * The random part of back-offs: a tenth of their upper limit, so that sockets are reopened after
 * half a second.
 */
const RANDOM = 0.1;

export async function start({ url, servers, caFile }: ConnectingOptions): Promise<ConnectingProgram> {
  const clock = new SystemClock();
  const streams = new Stage(servers);
  const { log } = await openLog({ level: 'warn', format: 'json' });
  const connects = new ConnectPacer({ ...NODE_LOOP, isRendering: () => false });
  const eventLog = serverLog(log, clock);
  const config = await panelConfig(caFile);
  const context: SessionContext = {
    sockets: socketAccess(config, clock, systemNames().forPanel(), spokenDialect(config), connects.line()),
    clock,
    log: sessionLog(eventLog),
    random: () => RANDOM,
    panel: {
      credentials: ({ id }) =>
        Promise.resolve({ token: TOKEN, socketUrl: `${url}/${id}`, lifetimeMs: TOKEN_LIVES_MS }),
      resources: () => Promise.reject(new Error('expected no poll')),
      delaysToken: () => false,
      isCurrent: () => true,
      tokenOutdated: () => undefined,
      declineTrial: () => undefined,
      reclassify: () => undefined,
      socketEnded: (_server, { end }) => {
        if (end === undefined) streams.reached();
      },
    },
    telemetry: {},
    settings: { origin: 'http://127.0.0.1', connectTimeoutMs: 60_000, authTimeoutMs: 60_000 },
    surroundings: ({ target }: SessionRecord, isRunning: boolean): Surroundings => ({
      ...NOTHING_KNOWN,
      now: clock.now(),
      target,
      isRunning,
    }),
  };
  const sessions = Array.from({ length: servers }, (_, index) => {
    const record = new ServerRecord(targetOf(index), STALENESS, { clock, log: eventLog });
    return { record, session: new Session(context, record) };
  });
  const connect = async () => {
    for (const { record, session } of sessions) session.sees(context.surroundings(record, true));
    await streams.all();
  };
  return {
    connect: (profile) => timeOf(connect, profile),
    reconnect: (profile) => timeOf(() => streams.all(), profile),
  };
}

/** Counts the servers that have reached a stage. */
export class Stage {
  readonly #servers: number;
  #reached = 0;
  #resolve: () => void = () => undefined;

  constructor(servers: number) {
    this.#servers = servers;
  }

  reached(): void {
    this.#reached += 1;
    if (this.#reached === this.#servers) this.#resolve();
  }

  /** Counts from 0 again. Resolves when all servers have reached the stage. */
  async all(): Promise<void> {
    this.#reached = 0;
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
    });
  }
}

/** As long as the tokens of real panels. */
const TOKEN = `${'h'.repeat(36)}.${'p'.repeat(500)}.${'s'.repeat(43)}`;

async function panelConfig(caFile: string | undefined) {
  const text = `panels:
  - name: main
    url: https://127.0.0.1
    allow_insecure: true
    api_key: ptlc_0123456789012345678901234567890123456789012
    servers:
      - id: 1a7ce997
`;
  const { config, issues } = await parseConfig(text, 'config.yaml', {});
  const [panel] = config?.panels ?? [];
  if (panel === undefined) throw new Error(issues.map(({ message }) => message).join('\n'));
  if (caFile === undefined) return panel;
  const ca = await readFile(caFile, 'utf8');
  return {
    ...panel,
    tls: { ca, insecureSkipVerify: false, serverName: undefined, cert: undefined, key: undefined },
  };
}

function targetOf(index: number): ServerTarget {
  const id = index.toString(16).padStart(8, '0');
  return {
    panel: 'main',
    id,
    name: `server-${index}`,
    labels: {},
    node: `node-${index % 50}`,
    expect: 'running',
    mode: 'auto',
    limits: {},
  };
}
