import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { examined, problemsOf, serverNamed, shownOf } from '../../support/doctor.ts';
import { configFor, fastClock } from '../../support/exporter.ts';
import { json, RESOURCES, scriptedServer } from '../panel/scripted-server.ts';

// Which cause each fault has is in test/faults/doctor.test.ts.

const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, '');
  }
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A configuration of one server, on a panel at any address. */
function yamlFor(url: string, settings: readonly string[] = []): string {
  const lines = ['panels:', '  - name: main', `    url: ${url}`, '    api_key: ptlc_TopSecretKey'];
  return [...lines, ...settings.map((line) => `    ${line}`), '    servers: [{ id: 1a7ce997 }]'].join('\n');
}

async function simulated(options: SimulatorOptions = {}): Promise<Simulator> {
  const panel = await startSimulator({ servers: [{ name: 'survival' }], clock: fastClock(), ...options });
  closers.push(() => panel.stop());
  return panel;
}

interface Row {
  readonly cause: CauseCode;
  readonly what: string;
  /** Sets the panel up, and returns the configuration for it. */
  readonly arrange: () => Promise<string>;
}

const failures: readonly Row[] = [
  {
    cause: 'proxy',
    what: 'the proxy is down, and its address has a password',
    arrange: async () =>
      yamlFor('https://panel.invalid', ['proxy_url: http://me:TopSecretPassword@127.0.0.1:1']),
  },
  {
    cause: 'redirect',
    what: 'a redirect to a login page',
    arrange: async () => {
      const panel = await simulated();
      panel.failRest({ kind: 'redirect' });
      return configFor(panel);
    },
  },
  {
    cause: 'key_refused',
    what: 'the key is refused with 401',
    arrange: async () => {
      const panel = await simulated();
      panel.revokeKey(panel.apiKey);
      return configFor(panel);
    },
  },
];

const warnings: readonly Row[] = [
  {
    cause: 'limit_unknown',
    what: 'no header states it',
    arrange: async () => {
      const server = await scriptedServer(json(200, RESOURCES));
      closers.push(() => server.close());
      return yamlFor(server.url).replace('1a7ce997', '1a7ce997, mode: poll');
    },
  },
  {
    cause: 'pinned_too_high',
    what: "the pinned rate exceeds the panel's limit",
    arrange: async () => configFor(await simulated(), ['requests_per_minute: 1000']),
  },
  {
    cause: 'rate_limited',
    what: 'other clients used up the limit, and doctor waits',
    arrange: async () => {
      const panel = await simulated();
      panel.failRest({ kind: 'refuse', status: 429, headers: { 'retry-after': '600' } });
      return configFor(panel);
    },
  },
];

describe('a problem of a panel', () => {
  it.each(failures)('$cause: $what', async ({ cause, arrange }) => {
    const report = await examined({ yaml: await arrange() });
    expect(problemsOf(report)).toMatchObject([{ cause, result: 'failed', nodes: [], servers: [] }]);
    expect(report.panels[0]?.servers).toMatchObject([{ result: 'untested' }]);
    expect(isAllHealthy(report)).toBe(false);
    expect(shownOf(report)).toContain(CAUSES[cause].remedy);
    expect(shownOf(report)).not.toMatch(/ptl[ac]_(?!…)|eyJ|TopSecret/);
  });

  it.each(warnings)('$cause, as a warning: $what', async ({ cause, arrange }) => {
    const report = await examined({ yaml: await arrange() });
    expect(problemsOf(report)).toContainEqual(expect.objectContaining({ cause, result: 'warning' }));
    expect(shownOf(report)).toContain(CAUSES[cause].remedy);
  });

  it("fails like serve if the environment's proxy isn't a valid address", async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://me:TopSecretPassword@');
    const running = examined({ yaml: yamlFor('https://panel.example.com') });
    await expect(running).rejects.toThrow(/HTTPS_PROXY is not a proxy's address/);
    await expect(running).rejects.not.toThrow('TopSecret');
  });
});

describe('a firewall that blocks one path of a panel', () => {
  it('is a problem of the panel, while the configured servers have data', async () => {
    const panel = await simulated();
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'listing', shape: 'html' });
    const report = await examined({ yaml: configFor(panel, ['discover: { type: owner }']) });
    expect(problemsOf(report)).toContainEqual(
      expect.objectContaining({ cause: 'challenge_page', servers: [] }),
    );
    expect(serverNamed(report, 'survival')).toMatchObject({ result: 'ok', condition: 'streaming' });
  });
});
