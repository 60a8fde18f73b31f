import { describe, expect, it } from 'vitest';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import { MAX_RUN_MS } from '../../../src/doctor/run.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { examined, reportText } from '../../support/doctor.ts';
import { configFor } from '../../support/exporter.ts';
import { simulated, yamlOf } from '../../support/stage.ts';

const generous = (options: SimulatorOptions) => simulated({ rateLimitPerMinute: 60_000, ...options });

const callsTo = (panel: Simulator, endpoint: string) =>
  panel.record.calls.filter((call) => call.endpoint === endpoint);

/** A configuration with these settings and without servers. */
const discovering = (panel: Simulator, ...settings: readonly string[]) => yamlOf(panel, settings);

describe('a healthy fleet', () => {
  it('costs one call per server, and sends only auth and send stats', async () => {
    const panel = await generous({ servers: 20 });
    const report = await examined({ yaml: configFor(panel) });
    expect(isAllHealthy(report)).toBe(true);
    const [only] = report.panels;
    expect(only?.servers.map(({ name }) => name)).toEqual(panel.servers.map(({ name }) => name));
    expect(new Set(only?.servers.map(({ condition }) => condition))).toEqual(new Set(['streaming']));
    expect(only?.calls).toBe(panel.record.calls.length);
    expect(callsTo(panel, 'resources').length).toBe(0);
    expect(callsTo(panel, 'websocket').length).toBe(20);
    const events = panel.record.frames.map(({ event }) => event);
    expect([...new Set(events)].filter((event) => event !== 'send stats')).toEqual(['auth']);
    for (const { uuid } of panel.servers) {
      expect(panel.record.sockets(uuid)).toMatchObject({ opened: 1, open: 0 });
    }
  });
});

describe('servers that are not reached', () => {
  it('within a minute are counted as untested', async () => {
    const panel = await generous({ servers: 5, rateLimitPerMinute: 60_000 });
    const report = await examined({ yaml: configFor(panel, ['requests_per_minute: 3']) });
    const results = report.panels.flatMap(({ servers }) => servers.map(({ result }) => result));
    expect(results.filter((result) => result === 'untested').length).toBeGreaterThanOrEqual(2);
    expect(results).toContain('ok');
    expect(isAllHealthy(report)).toBe(false);
    expect(report.durationMs).toBeGreaterThanOrEqual(MAX_RUN_MS);
    expect(reportText(report)).toMatch(/Incomplete: \d servers not tested/);
    expect(JSON.parse(reportText(report).split('\n').at(-1) ?? '')).toMatchObject({
      ok: false,
      panels: [{ ok: false, untested: results.filter((result) => result === 'untested').length }],
    });
  });
});

describe('a failed installation', () => {
  it.each([
    ['install_failed', 'blocked'],
    ['reinstall_failed', 'streaming'],
  ] as const)(
    'that the panel lists as %s is a problem of the server, which is %s',
    async (conflict, condition) => {
      const panel = await generous({ servers: [{ name: 'one' }, { name: 'two' }] });
      panel.setConflict('one', conflict);
      const report = await examined({ yaml: configFor(panel) });
      expect(isAllHealthy(report)).toBe(false);
      expect(report.panels[0]?.servers).toMatchObject([
        { name: 'one', result: 'failed', condition, problems: [{ cause: conflict }] },
        { name: 'two', result: 'ok', problems: [] },
      ]);
    },
  );
});

describe('a panel whose first response is a 429', () => {
  const limited = async (seconds: number) => {
    const panel = await generous({ servers: 3 });
    const headers = { 'retry-after': String(seconds) };
    panel.failRest({ kind: 'refuse', endpoint: 'listing', status: 429, shape: 'errors', headers, times: 1 });
    return examined({ yaml: discovering(panel, 'discover: true') });
  };

  it('is tested once the pause is over', async () => {
    const report = await limited(5);
    expect(isAllHealthy(report)).toBe(true);
    expect(report.panels[0]?.servers).toHaveLength(3);
  });

  it('is incomplete if the pause takes longer than doctor runs', async () => {
    const report = await limited(300);
    expect(isAllHealthy(report)).toBe(false);
    expect(report.panels[0]?.servers).toEqual([]);
    expect(reportText(report)).toContain('Incomplete: server list not read (panel main)');
  });
});

describe('a panel with discovery', () => {
  it('is limited to the selected servers and those in the configuration', async () => {
    const panel = await generous({ servers: [{ name: 'a-1' }, { name: 'a-2' }, { name: 'b-1' }] });
    const own = panel.server('b-1');
    const yaml = `${discovering(panel, 'discover: { type: owner, include: { name: ["a-*"] } }')}
    servers: [{ id: ${own.identifier}, name: mine }]`;
    const report = await examined({ yaml });
    expect(report.panels[0]?.servers.map(({ name }) => name)).toEqual(['mine', 'a-1', 'a-2']);
  });
});
