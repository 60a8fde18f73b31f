import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import type { PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import type { PanelAnswer } from '../../../src/panel/api.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { Gateway, type PanelCalls } from '../../../src/panel/gateway.ts';
import { FleetBench, NO_TELEMETRY, named, RESOURCES } from '../../support/fleet-bench.ts';

const ANSWER_MS = 60;

const GATEWAY = {
  panel: 'main',
  baseUrl: 'https://panel.example.com',
  apiKey: () => 'key',
  userAgent: 'test',
  telemetry: NO_TELEMETRY,
  requestTimeoutMs: 20_000,
  connectTimeoutMs: 10_000,
};

type Path = 'credentials' | 'resources' | 'listing';

let bench: FleetBench;
let clock: FleetBench['clock'];
let fleet: PanelFleet;
/** How each path fails now. */
let failing: Map<Path, Problem>;
let calls: { readonly path: Path; readonly at: number }[];

beforeEach(() => {
  bench = new FleetBench();
  ({ clock } = bench);
  failing = new Map();
  calls = [];
});

afterEach(async () => {
  await fleet.stop();
});

/** A panel with a limit of 240 calls a minute that responds within 60 ms. */
function panel(): PanelCalls {
  const answered = async <T>(path: Path, value: T): Promise<PanelAnswer<T>> => {
    calls.push({ path, at: clock.now() });
    await new Promise<void>((resolve) => clock.schedule(ANSWER_MS, resolve));
    const problem = failing.get(path);
    if (problem !== undefined) throw new PanelError(problem);
    return { value, limitPerMinute: 240, remaining: 200 };
  };
  return {
    credentials: (server) =>
      answered('credentials', {
        token: `token of ${server}`,
        socketUrl: `wss://node/${server}`,
        lifetimeMs: 600_000,
      }),
    resources: () => answered('resources', RESOURCES),
    listing: () => answered('listing', { servers: [], totalPages: 1, badEntries: 0, surplusEntries: 0 }),
    backups: () => Promise.reject(new Error('expected no backups')),
    schedules: () => Promise.reject(new Error('expected no schedules')),
    close: () => Promise.resolve(),
  };
}

/** Starts a fleet that uses a real gateway to this panel. */
async function start(targets: readonly ServerTarget[]): Promise<void> {
  const { log } = bench;
  const gateway = new Gateway({ ...GATEWAY, log, clock }, panel());
  fleet = bench.create(targets, {}, { gateway });
  fleet.start();
  await clock.advance(10_000);
}

const onOwnNodes = (count: number, mode: ServerTarget['mode'] = 'auto') =>
  Array.from({ length: count }, (_, index) => named(`${mode}-${index}`, { node: `node-${index}`, mode }));
const conditions = () => {
  const counts: Record<string, number> = {};
  for (const { status } of fleet.records) counts[status.condition] = (counts[status.condition] ?? 0) + 1;
  return counts;
};
const causes = () => fleet.reading().problems.map(({ cause }) => cause);
const warnings = () =>
  bench.log.lines.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message);

const CUT: Problem = { cause: 'connection', detail: 'the connection was cut' };

describe('a panel whose path for consoles fails while the rest works', () => {
  // Servers that never failed themselves have to be notified, on whatever node they are.
  it('is up, and all servers are polled within ten seconds', async () => {
    failing.set('credentials', CUT);
    await start(onOwnNodes(30));
    expect(conditions()).toEqual({ polling: 30 });
    expect(fleet.reading().up).toBe(true);
    expect(fleet.reading().problems).toEqual([{ ...CUT, detail: `websocket calls only: ${CUT.detail}` }]);
    expect(warnings()).toEqual([
      expect.stringMatching(/^panel main .*: unreachable, for websocket calls only: the connection was cut/),
    ]);
  });

  it('streams all servers again within 75 s after it works', async () => {
    failing.set('credentials', CUT);
    await start(onOwnNodes(30));
    await clock.advance(8 * 60_000);
    failing.clear();
    await clock.advance(75_000);
    expect(conditions()).toEqual({ streaming: 30 });
    expect(causes()).toEqual([]);
  });

  it('costs few calls for consoles', async () => {
    failing.set('credentials', CUT);
    await start(onOwnNodes(30));
    const before = calls.length;
    await clock.advance(10 * 60_000);
    // A trial a minute, and the canary that it causes.
    expect(calls.slice(before).filter(({ path }) => path === 'credentials').length).toBeLessThanOrEqual(24);
  });
});

describe('a panel whose resources fail while the rest works', () => {
  it('streams what can be streamed, and has the problem of that path', async () => {
    failing.set('resources', CUT);
    await start([...onOwnNodes(5), ...onOwnNodes(5, 'poll')]);
    await clock.advance(30_000);
    expect(conditions()).toEqual({ streaming: 5, failing: 5 });
    expect(fleet.reading().up).toBe(true);
    expect(causes()).toEqual(['connection']);
  });
});

describe('a panel that fails as a whole', () => {
  it.each<[string, ServerTarget['mode']]>([
    ['stream', 'auto'],
    ['are polled', 'poll'],
  ])('is down with one problem, and back within 75 s: its servers %s', async (_, mode) => {
    for (const path of ['credentials', 'resources', 'listing'] as const) failing.set(path, CUT);
    await start(onOwnNodes(20, mode));
    await clock.advance(90_000);
    expect(fleet.reading().up).toBe(false);
    expect(causes()).toEqual(['connection']);
    expect(conditions()).toEqual({ failing: 20 });
    const before = calls.length;
    await clock.advance(10 * 60_000);
    // One canary of each kind a minute.
    expect(calls.length - before).toBeLessThanOrEqual(33);
    failing.clear();
    await clock.advance(75_000);
    expect(fleet.reading().up).toBe(true);
    expect(conditions()).toEqual({ [mode === 'poll' ? 'polling' : 'streaming']: 20 });
  });
});
