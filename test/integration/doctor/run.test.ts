import { afterEach, describe, expect, it } from 'vitest';
import { Canceled, STOPPED } from '../../../src/doctor/canceled.ts';
import type { Progress } from '../../../src/doctor/progress.ts';
import { isAllHealthy, isHealthy, problemsOf, type ServerReport } from '../../../src/doctor/report.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { eventually } from '../../support/eventually.ts';
import { configFor, fastClock } from '../../support/exporter.ts';
import { examined, panelFinding, results } from './examination.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function simulated(options: SimulatorOptions): Promise<Simulator> {
  const panel = await startSimulator({ rateLimitPerMinute: 60_000, clock: fastClock(), ...options });
  closers.push(() => panel.stop());
  return panel;
}

const isWhole = ({ steps }: ServerReport) => steps.every(({ result }) => result === 'ok');
const callsTo = (panel: Simulator, endpoint: string) =>
  panel.record.calls.filter((call) => call.endpoint === endpoint);

describe('a healthy fleet', () => {
  it('costs two calls per server and one for the panel, and sends only auth and send stats', async () => {
    const panel = await simulated({ servers: 20 });
    const report = await examined({ yaml: configFor(panel) });
    expect(isAllHealthy(report)).toBe(true);
    const [only] = report.panels;
    expect(only?.servers.map(({ name }) => name)).toEqual(panel.servers.map(({ name }) => name));
    expect(only?.servers.every(isWhole)).toBe(true);
    expect(only?.steps.map(({ result }) => result)).toEqual(['ok', 'ok', 'ok', 'skipped', 'ok']);
    expect(only?.calls).toBe(41);
    expect(callsTo(panel, 'resources').length).toBe(20);
    expect(callsTo(panel, 'websocket').length).toBe(20);
    const events = panel.record.frames.map(({ event }) => event);
    expect(new Set(events)).toEqual(new Set(['auth', 'send stats']));
    expect(panel.record.frames.every(({ accepted }) => accepted)).toBe(true);
    for (const { uuid } of panel.servers) {
      expect(panel.record.sockets(uuid)).toMatchObject({ opened: 1, open: 0 });
    }
  });

  it('is tried in parallel, at most eight servers at once', async () => {
    const panel = await simulated({ servers: 20 });
    let [open, most] = [0, 0];
    const names = new Set<string>();
    await examined({
      yaml: configFor(panel),
      progress: {
        began: (_panel, server) => {
          if (!names.has(server)) open += 1;
          names.add(server);
          most = Math.max(most, open);
        },
        serverDone: () => {
          open -= 1;
        },
      },
    });
    expect(most).toBe(8);
  });

  it('waits for the budget', async () => {
    const panel = await simulated({ servers: 3 });
    const yaml = configFor(panel, ['requests_per_minute: 6']);
    const { durationMs } = await examined({ yaml });
    expect(panel.record.calls.length).toBe(7);
    expect(durationMs).toBeGreaterThanOrEqual(59_000);
  });

  it('has polled servers tried without sockets, and servers with mode: socket without polls', async () => {
    const panel = await simulated({ servers: 2 });
    const [first, second] = panel.servers;
    const yaml = configFor(panel)
      .replace(`"${first?.name ?? ''}" }`, `"${first?.name ?? ''}", mode: poll }`)
      .replace(`"${second?.name ?? ''}" }`, `"${second?.name ?? ''}", mode: socket }`);
    const report = await examined({ yaml });
    const steps = report.panels[0]?.servers.map((server) => server.steps.map(({ result }) => result));
    expect(steps).toEqual([
      ['ok', 'skipped', 'skipped', 'skipped', 'skipped', 'ok'],
      ['ok', 'ok', 'ok', 'ok', 'ok', 'skipped'],
    ]);
    expect(isAllHealthy(report)).toBe(true);
    expect(callsTo(panel, 'resources').length).toBe(1);
    expect(callsTo(panel, 'websocket').length).toBe(1);
  });
});

describe('a panel that fails while its servers are tried', () => {
  it.each<readonly [string, (panel: Simulator) => void, 'reach' | 'key', string]>([
    ['unreachable', (panel) => panel.failRest({ kind: 'drop' }), 'reach', 'connection_cut'],
    ['a deleted key', (panel) => panel.revokeKey(panel.apiKey), 'key', 'key_refused'],
  ])('%s: the remaining servers are skipped', async (_what, lose, step, cause) => {
    const panel = await simulated({ servers: 60 });
    let done = 0;
    const report = await examined({
      yaml: configFor(panel),
      progress: {
        serverDone: () => {
          done += 1;
          if (done === 1) lose(panel);
        },
      },
    });
    expect(panelFinding(report, step)).toMatchObject({ result: 'failed', cause });
    const servers = report.panels[0]?.servers ?? [];
    expect(servers.at(-1)?.steps[0]).toMatchObject({
      result: 'skipped',
      detail: 'not tested: the panel failed during the run',
    });
    expect(panel.record.calls.length).toBeLessThan(60);
    expect(problemsOf(report)).toMatchObject([{ steps: [step], cause, servers: [] }]);
    expect(report.panels[0]?.problem).toMatchObject({ cause });
  });
});

describe('stopping doctor', () => {
  it('ends it at once with the results so far, and closes its sockets', async () => {
    const panel = await simulated({ servers: 60 });
    panel.failSockets({ kind: 'hang-upgrade', server: panel.servers[12]?.uuid });
    const stop = new AbortController();
    const report = await examined({
      yaml: configFor(panel),
      signal: stop.signal,
      progress: {
        began: (_panel, server, step) => {
          if (server === panel.servers[12]?.name && step === 'upgrade') stop.abort(new Canceled(STOPPED));
        },
      },
    });
    expect(report.stopped).toBe(true);
    expect(isAllHealthy(report)).toBe(false);
    const servers = report.panels[0]?.servers ?? [];
    expect(servers.length).toBe(60);
    expect(servers.some(isWhole)).toBe(true);
    expect(servers[12]?.steps[2]).toMatchObject({ step: 'upgrade', result: 'skipped', detail: STOPPED });
    expect(servers.at(-1)?.steps[0]).toMatchObject({ result: 'skipped', detail: STOPPED });
    expect(servers.flatMap(({ steps }) => steps).some(({ result }) => result === 'failed')).toBe(false);
  });

  it('before the panel responds reports no failure', async () => {
    const panel = await simulated({ servers: 1 });
    panel.failRest({ kind: 'hang' });
    const stop = new AbortController();
    const running = examined({ yaml: configFor(panel), signal: stop.signal });
    await eventually(() => expect(panel.record.calls.length).toBe(1));
    stop.abort(new Canceled(STOPPED));
    const report = await running;
    expect(report.stopped).toBe(true);
    expect(panelFinding(report, 'reach')).toMatchObject({ result: 'skipped', detail: STOPPED });
    expect(new Set(results(report))).toEqual(new Set(['skipped']));
  });
});

describe('a panel with discovery', () => {
  const discovering = (panel: Simulator, settings: readonly string[]) =>
    configFor(panel, settings).split('\n    servers:')[0] ?? '';

  it('has its server list read, and its servers tried', async () => {
    const panel = await simulated({ servers: 120 });
    const report = await examined({ yaml: discovering(panel, ['discover: { type: owner, mode: poll }']) });
    expect(panelFinding(report, 'listing')).toMatchObject({
      result: 'ok',
      detail: '120 servers listed, 120 to test; expect: auto 120',
    });
    expect(report.panels[0]?.servers.length).toBe(120);
    expect(report.panels[0]?.servers.every(isHealthy)).toBe(true);
    expect(callsTo(panel, 'listing').length).toBe(2);
  });

  it('is limited to the selected servers and those in the configuration', async () => {
    const panel = await simulated({ servers: [{ name: 'a-1' }, { name: 'a-2' }, { name: 'b-1' }] });
    const own = panel.server('b-1');
    const yaml = `${discovering(panel, ['discover: { type: owner, include: { name: ["a-*"] } }'])}
    servers: [{ id: ${own.identifier}, name: mine }]`;
    const report = await examined({ yaml });
    expect(report.panels[0]?.servers.map(({ name }) => name)).toEqual(['mine', 'a-1', 'a-2']);
  });

  it('fails if no server is found', async () => {
    const panel = await simulated({ servers: 1 });
    const yaml = discovering(panel, ['discover: { type: owner, include: { name: [nothing] } }']);
    const report = await examined({ yaml });
    expect(panelFinding(report, 'listing')).toMatchObject({
      result: 'failed',
      cause: 'all_excluded',
      detail: 'discover excludes the only listed server',
    });
  });

  it('warns if discover excludes every listed server, but others are configured', async () => {
    const panel = await simulated({ servers: [{ name: 'a-1' }, { name: 'a-2' }] });
    const yaml = `${discovering(panel, ['discover: { exclude: { name: ["a-*"] } }'])}
    servers: [{ id: ${panel.server('a-1').identifier} }]`;
    const report = await examined({ yaml });
    expect(panelFinding(report, 'listing')).toMatchObject({
      result: 'warning',
      cause: 'all_excluded',
      detail: 'discover excludes all 2 listed servers',
    });
  });

  it.each([
    ["an administrator's", true, [/discover: \{ type: admin-all \}/]],
    ["anybody else's", false, []],
  ])(
    'offers all servers of the panel if no server is listed and the key is %s',
    async (_whose, admin, remedies) => {
      const panel = await simulated({ admin, servers: [{ name: "somebody else's", owned: false }] });
      const report = await examined({ yaml: discovering(panel, ['discover: true']) });
      const finding = panelFinding(report, 'listing');
      expect(finding).toMatchObject({ result: 'failed', cause: 'nothing_listed' });
      expect([finding?.remedy].filter(Boolean)).toEqual(
        remedies.map((remedy) => expect.stringMatching(remedy) as string),
      );
    },
  );

  it('has a limit that is too low if its listed servers need more calls', async () => {
    const panel = await simulated({ servers: 110, rateLimitPerMinute: 240 });
    const seen: (string | undefined)[] = [];
    const panelStep: Progress['panelStep'] = (_panel, { step, cause }) => {
      if (step === 'limit') seen.push(cause);
    };
    const yaml = discovering(panel, ['discover: { type: owner, mode: poll }']);
    const report = await examined({ yaml, progress: { panelStep } });
    expect(panelFinding(report, 'limit')).toMatchObject({
      result: 'warning',
      cause: 'budget_too_small',
      detail: expect.stringMatching(
        /^240 calls .*; 110 servers need 220\.4 API calls per minute, but the API budget allows 192: sockets reconnect late and polls are delayed/,
      ) as string,
    });
    expect(seen).toEqual([undefined, 'budget_too_small']);
  });

  it('has the known servers tried if a page of the server list fails', async () => {
    const panel = await simulated({ servers: 101 });
    const yaml = discovering(panel, ['discover: { type: owner, mode: poll }']);
    panel.failRest({ kind: 'delay', ms: 20_000, endpoint: 'listing' });
    const examination = examined({ yaml });
    // The first page is on its way: only the next one fails.
    await eventually(() => expect(callsTo(panel, 'listing').length).toBe(1));
    panel.clearFaults();
    panel.failRest({ kind: 'refuse', status: 500, endpoint: 'listing' });
    const report = await examination;
    expect(panelFinding(report, 'listing')).toMatchObject({ result: 'failed', cause: 'panel_error' });
    expect(report.panels[0]?.servers.length).toBe(100);
  });
});
