import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { reportDocument } from '../../../src/doctor/render.ts';
import { isAllHealthy, type PanelStep } from '../../../src/doctor/report.ts';
import { SystemClock } from '../../../src/domain/clock.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { configFor, fastClock } from '../../support/exporter.ts';
import { envelope, json, page, RESOURCES, scriptedServer } from '../panel/scripted-server.ts';
import { type Examination, examined, panelFinding, results, serverFinding, shownOf } from './examination.ts';

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
  const panel = await startSimulator({
    servers: [{ name: 'survival' }],
    clock: fastClock(),
    ...options,
  });
  closers.push(() => panel.stop());
  return panel;
}

async function scripted(...[answer]: Parameters<typeof scriptedServer>): Promise<string> {
  const server = await scriptedServer(answer);
  closers.push(() => server.close());
  return server.url;
}

/** A port that accepts connections, and ignores or closes them. */
async function tcp(onConnection: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server = createTcpServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  );
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Row {
  readonly cause: CauseCode;
  readonly what: string;
  readonly step: PanelStep;
  /** Sets the panel up, and returns the configuration for it. */
  readonly arrange: () => Promise<Examination>;
  readonly says: RegExp;
}

const unreached: readonly Row[] = [
  {
    cause: 'dns',
    what: 'its name is unknown',
    step: 'reach',
    // The machine's name service takes real time.
    arrange: async () => ({ yaml: yamlFor('https://panel.invalid'), clock: new SystemClock() }),
    says: /resolving panel\.invalid failed/,
  },
  {
    cause: 'connection',
    what: 'nothing listens on its port',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor('https://127.0.0.1:1') }),
    says: /ECONNREFUSED/,
  },
  {
    cause: 'timeout',
    what: 'it accepts connections and never responds',
    step: 'reach',
    arrange: async () => ({
      yaml: yamlFor(`http://127.0.0.1:${await tcp(() => undefined)}`, ['request_timeout: 100ms']),
    }),
    says: /no response from 127/,
  },
  {
    cause: 'tls_plain_port',
    what: 'https to a port that speaks plain HTTP',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor((await simulated()).url.replace('http:', 'https:')) }),
    says: /TLS with .* failed/,
  },
  {
    cause: 'https_needed',
    what: 'http to a port that closes the connection',
    step: 'reach',
    arrange: async () => ({
      yaml: yamlFor(`http://127.0.0.1:${await tcp((socket) => socket.once('data', () => socket.destroy()))}`),
    }),
    says: /the connection to .* was closed/,
  },
  {
    cause: 'https_needed',
    what: 'http to an nginx port that speaks TLS',
    step: 'reach',
    arrange: async () => ({
      yaml: yamlFor(
        await scripted((response) => {
          response.writeHead(400, { 'content-type': 'text/html' });
          response.end('<title>400 The plain HTTP request was sent to HTTPS port</title>');
        }),
      ),
    }),
    says: /returned 400/,
  },
  {
    cause: 'tls_client_certificate',
    what: 'nginx requires a client certificate',
    step: 'reach',
    arrange: async () => ({
      yaml: yamlFor(
        await scripted((response) => {
          response.writeHead(400, { 'content-type': 'text/html' });
          response.end('<title>400 No required SSL certificate was sent</title>');
        }),
      ),
    }),
    says: /returned 400/,
  },
  {
    cause: 'https_needed',
    what: 'a redirect to https',
    step: 'reach',
    arrange: async () => ({
      yaml: yamlFor(
        await scripted((response) => {
          response.writeHead(301, { location: 'https://127.0.0.1/api' }).end();
        }),
      ),
    }),
    says: /redirect to https:/,
  },
  {
    cause: 'proxy',
    what: 'the proxy is down',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor('https://panel.invalid', ['proxy_url: http://127.0.0.1:1']) }),
    says: /\S/,
  },
  {
    cause: 'proxy',
    what: "the environment's proxy isn't a valid address",
    step: 'reach',
    arrange: async () => {
      vi.stubEnv('HTTPS_PROXY', 'http://me:TopSecretPassword@');
      return { yaml: yamlFor('https://panel.example.com') };
    },
    says: /HTTPS_PROXY\) is not a URL/,
  },
  ...[403, 407].map(
    (status): Row => ({
      cause: 'proxy',
      what: `the proxy responds with ${status}`,
      step: 'reach',
      arrange: async () => {
        const port = await tcp((socket) =>
          socket.once('data', () => socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)),
        );
        return {
          yaml: yamlFor('https://panel.invalid', [
            `proxy_url: http://me:TopSecretPassword@127.0.0.1:${port}`,
          ]),
        };
      },
      says: /prox/i,
    }),
  ),
];

const unauthenticated: readonly Row[] = [
  {
    cause: 'redirect',
    what: 'a redirect to a login page',
    step: 'reach',
    arrange: async () => {
      const panel = await simulated();
      panel.failRest({ kind: 'redirect' });
      return { yaml: configFor(panel) };
    },
    says: /redirect to \/auth\/login/,
  },
  {
    cause: 'login_page',
    what: 'an HTML page instead of JSON',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(200))) }),
    says: /the body is a page, not JSON/,
  },
  {
    cause: 'login_page',
    what: 'basic authentication in front of it',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(401))) }),
    says: /returned 401/,
  },
  {
    cause: 'challenge_page',
    what: 'a bot challenge in front of it',
    step: 'reach',
    arrange: async () => ({
      yaml: yamlFor(
        await scripted((response) => {
          response.writeHead(503, { 'content-type': 'text/html' }).end('<title>Just a moment...</title>');
        }),
      ),
    }),
    says: /Just a moment/,
  },
  {
    cause: 'challenge_page',
    what: 'a firewall in front of it',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(403))) }),
    says: /returned 403/,
  },
  {
    cause: 'not_a_panel',
    what: 'another web site',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(404))) }),
    says: /returned 404/,
  },
  {
    cause: 'panel_down',
    what: "its reverse proxy can't reach it",
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(502))) }),
    says: /returned 502/,
  },
  {
    cause: 'panel_error',
    what: 'a page of PHP errors',
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(500))) }),
    says: /returned 500/,
  },
  {
    cause: 'bad_answer',
    what: "JSON that isn't a response of the API",
    step: 'reach',
    arrange: async () => ({ yaml: yamlFor(await scripted(json(200, { hello: 'world' }))) }),
    says: /returned 200: /,
  },
];

const keys: readonly Row[] = [
  {
    cause: 'key_refused',
    what: 'the key is refused with 401',
    step: 'key',
    arrange: async () => {
      const panel = await simulated();
      panel.revokeKey(panel.apiKey);
      return { yaml: configFor(panel) };
    },
    says: /returned 401/,
  },
  {
    cause: 'key_refused',
    what: 'a panel without a server list responds with 401 for every server',
    step: 'key',
    arrange: async () => {
      const panel = await simulated({ servers: 4 });
      panel.failRest({ kind: 'refuse', status: 404, endpoint: 'listing' });
      panel.failRest({ kind: 'refuse', status: 401 });
      return { yaml: configFor(panel) };
    },
    says: /returned 4/,
  },
  {
    cause: 'application_key',
    what: 'a key of the application API',
    step: 'key',
    arrange: async () => ({
      yaml: configFor(await simulated()),
      change: (config) => ({
        ...config,
        panels: config.panels.map((panel) => ({ ...panel, apiKey: new Secret('ptla_TopSecretKey') })),
      }),
    }),
    says: /returned 403/,
  },
  {
    cause: 'key_address',
    what: 'a key that is limited to other addresses',
    step: 'key',
    arrange: async () => ({
      yaml: yamlFor(
        await scripted(
          json(
            403,
            envelope(
              'This IP address (203.0.113.7) does not have permission to access the API using these credentials.',
            ),
          ),
        ),
      ),
    }),
    says: /returned 403: "This IP address \(203\.0\.113\.7\)/,
  },
  {
    cause: 'key_two_factor',
    what: 'an account without the two-factor authentication that the panel requires',
    step: 'key',
    arrange: async () => ({
      yaml: yamlFor(
        await scripted(
          json(400, {
            errors: [
              {
                code: 'TwoFactorAuthRequiredException',
                status: '400',
                detail:
                  'Two-factor authentication is required on this account in order to access this endpoint.',
              },
            ],
          }),
        ),
      ),
    }),
    says: /returned 400: "Two-factor authentication is required/,
  },
];

class WrongClock extends SystemClock {
  readonly #aheadMs: number;

  constructor(aheadMs: number) {
    super();
    this.#aheadMs = aheadMs;
  }

  override toUnixMs(monotonicMs: number): number {
    return super.toUnixMs(monotonicMs) + this.#aheadMs;
  }
}

const warnings: readonly Row[] = [
  {
    cause: 'limit_unknown',
    what: 'no header states it',
    step: 'limit',
    arrange: async () => ({
      yaml: yamlFor(await scripted(json(200, RESOURCES))).replace('1a7ce997', '1a7ce997, mode: poll'),
    }),
    says: /reports no rate limit/,
  },
  {
    cause: 'pinned_too_high',
    what: "the pinned rate exceeds the panel's limit",
    step: 'limit',
    arrange: async () => ({ yaml: configFor(await simulated(), ['requests_per_minute: 1000']) }),
    says: /is 1000, but the panel allows 240/,
  },
  {
    cause: 'rate_limited',
    what: 'other clients used up the limit, and doctor waits',
    step: 'limit',
    arrange: async () => {
      const panel = await simulated();
      panel.failRest({ kind: 'refuse', status: 429, headers: { 'retry-after': '5' }, times: 1 });
      return { yaml: configFor(panel) };
    },
    says: /the panel's rate limit is exceeded/,
  },
  ...[3_600_000, -3_600_000].map(
    (aheadMs): Row => ({
      cause: 'clock_off',
      what: `this machine's clock is off by ${aheadMs / 1_000} s`,
      step: 'clock',
      arrange: async () => {
        const panel = await simulated({ clock: new SystemClock() });
        return { yaml: configFor(panel), clock: new WrongClock(aheadMs) };
      },
      says: new RegExp(`(?:3599|3600) s ${aheadMs > 0 ? 'behind' : 'ahead of'} this machine`),
    }),
  ),
];

describe('a problem of a panel', () => {
  it.each([...unreached, ...unauthenticated, ...keys])(
    '$cause: $what',
    async ({ cause, step, arrange, says }) => {
      const report = await examined(await arrange());
      expect(panelFinding(report, step)).toMatchObject({
        result: 'failed',
        cause,
        detail: expect.stringMatching(says),
      });
      const after = step === 'reach' ? ['key', 'limit', 'clock'] : ['limit', 'clock'];
      for (const skipped of after as PanelStep[]) {
        expect(panelFinding(report, skipped)).toMatchObject({ result: 'skipped' });
      }
      expect(new Set(results(report))).toEqual(new Set(['skipped']));
      expect(isAllHealthy(report)).toBe(false);
      expect(shownOf(report)).toContain(CAUSES[cause].remedy);
      expect(shownOf(report)).not.toMatch(/ptl[ac]_(?!…)|eyJ|TopSecret/);
    },
  );

  it.each(warnings)('$cause, as a warning: $what', async ({ cause, step, arrange, says }) => {
    const report = await examined(await arrange());
    expect(panelFinding(report, step)).toMatchObject({
      result: 'warning',
      cause,
      detail: expect.stringMatching(says),
    });
    expect(isAllHealthy(report)).toBe(true);
    expect(shownOf(report)).toContain(CAUSES[cause].remedy);
  });

  it('rate_limited, as a failure: the panel is blocked for longer than doctor waits for a server', async () => {
    const clock = fastClock(300);
    const url = await scripted((response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '600' });
      response.end(JSON.stringify(envelope('Too many attempts.')));
    });
    const report = await examined({ yaml: yamlFor(url, ['request_timeout: 60s']), clock });
    expect(panelFinding(report, 'reach')).toMatchObject({
      result: 'failed',
      cause: 'rate_limited',
      detail: expect.stringMatching(
        /no call got a response within \d+ min: .*the panel's rate limit is exceeded/,
      ),
    });
  });
});

describe('a single failing server, which puts the key in doubt', () => {
  it('is distinguished from a rejected key by other servers if the panel has no server list', async () => {
    const panel = await simulated({ servers: 3 });
    const [first] = panel.servers;
    panel.failRest({ kind: 'refuse', status: 404, endpoint: 'listing' });
    panel.failRest({ kind: 'refuse', status: 401, shape: 'message', server: first?.uuid });
    const report = await examined({ yaml: configFor(panel) });
    expect(panelFinding(report, 'key')).toMatchObject({ result: 'ok' });
    expect(results(report)[0]).toBe('failed');
    expect(
      report.panels[0]?.servers.slice(1).every(({ steps }) => steps.every(({ result }) => result === 'ok')),
    ).toBe(true);
  });

  it('is distinguished from an unresponsive panel by the server list', async () => {
    const panel = await simulated({ servers: 2 });
    const [first] = panel.servers;
    panel.failRest({ kind: 'hang', endpoint: 'resources', server: first?.uuid });
    const report = await examined({ yaml: configFor(panel, ['request_timeout: 1s']) });
    expect(panelFinding(report, 'reach')).toMatchObject({ result: 'ok' });
    expect(report.panels[0]?.servers[0]?.steps.at(-1)).toMatchObject({
      result: 'failed',
      cause: 'node_silent',
    });
    expect(report.panels[0]?.servers[0]?.steps[4]).toMatchObject({ step: 'stats', result: 'ok' });
  });
});

describe('a firewall that blocks one path of a panel', () => {
  it("fails the server list's step, while the configured servers are tried and are fine", async () => {
    const panel = await simulated();
    const body = '<html><head><title>Attention Required! | Cloudflare</title></head></html>';
    const headers = { 'content-type': 'text/html' };
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'listing', body, headers });
    const report = await examined({ yaml: configFor(panel, ['discover: { type: owner }']) });
    expect(panelFinding(report, 'reach')).toMatchObject({ result: 'ok' });
    expect(panelFinding(report, 'key')).toMatchObject({ result: 'ok' });
    expect(panelFinding(report, 'listing')).toMatchObject({
      result: 'failed',
      cause: 'challenge_page',
      detail: expect.stringContaining('Attention Required!'),
    });
    expect(new Set(results(report))).toEqual(new Set(['ok']));
    expect(report.panels[0]?.problem).toBeUndefined();
  });

  it.each([
    ['resources', 'resources', ['found', 'credentials', 'upgrade', 'auth', 'stats']],
    ['websocket', 'credentials', ['found', 'resources']],
  ] as const)('fails that step of every server, without a wait for each: %s', async (path, step, others) => {
    const clock = fastClock();
    const panel = await simulated({ servers: 30, rateLimitPerMinute: 60_000, clock });
    panel.failRest({ kind: 'refuse', status: 403, endpoint: path, shape: 'html' });
    const report = await examined({ yaml: configFor(panel), clock });
    const servers = report.panels[0]?.servers ?? [];
    expect(servers.length).toBe(30);
    for (const { steps } of servers) {
      const findings = new Map(steps.map((finding) => [finding.step, finding]));
      expect(findings.get(step)).toMatchObject({ result: 'failed', cause: 'challenge_page' });
      for (const other of others) expect(findings.get(other)).toMatchObject({ result: 'ok' });
    }
    expect(report.panels[0]?.problem).toBeUndefined();
  });

  it('fails the panel if no other path is used', async () => {
    const panel = await simulated();
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'listing', shape: 'html' });
    const yaml = configFor(panel, ['discover: { type: owner }']).split('\n    servers:')[0] ?? '';
    const report = await examined({ yaml });
    expect(panelFinding(report, 'reach')).toMatchObject({ result: 'failed', cause: 'challenge_page' });
    expect(report.panels[0]?.problem).toMatchObject({ cause: 'challenge_page' });
  });
});

describe('an account without the console permission on any server', () => {
  it("is reported as a problem of the key, while each server's resources are fine", async () => {
    const panel = await simulated({ servers: 3 });
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'websocket' });
    const report = await examined({ yaml: configFor(panel) });
    expect(panelFinding(report, 'key')).toMatchObject({ result: 'failed', cause: 'key_console_permission' });
    expect(results(report).at(-1)).toBe('ok');
    for (const { name } of panel.servers) {
      expect(serverFinding(report, 'credentials', name)).toMatchObject({ cause: 'no_console_permission' });
    }
  });
});

describe('a url with a path', () => {
  const LISTING = { object: 'list', data: [], meta: { pagination: { total_pages: 1 } } };
  const UNAUTHENTICATED = {
    errors: [{ code: 'AuthenticationException', status: '401', detail: 'Unauthenticated.' }],
  };
  const NOT_FOUND = { errors: [{ code: 'NotFoundHttpException', status: '404', detail: 'Not found.' }] };

  /** A host that responds like this to paths with this prefix; all other paths have an empty server list. */
  async function hostWhere(path: string, wrong: Parameters<typeof scriptedServer>[0]): Promise<string> {
    return scripted((response, request) => {
      const url = request.url ?? '';
      if (url.startsWith(path)) wrong(response, request);
      else if (url.includes('/api/client?')) json(200, LISTING)(response, request);
      else json(404, NOT_FOUND)(response, request);
    });
  }

  // Like a panel's response to a path that it leaves to its own page (routes/base.php and the exception handler of Pterodactyl).
  it.each([
    ['like a rejected key', json(401, UNAUTHENTICATED)],
    ['like an unknown server', json(404, NOT_FOUND)],
    ['with a page', page(200)],
    ['with a page and status 404', page(404)],
  ])('is wrong if the panel is at the root and responds there %s', async (_what, wrong) => {
    const host = await hostWhere('/games', wrong);
    const report = await examined({ yaml: yamlFor(`${host}/games`) });
    expect(panelFinding(report, 'reach')).toMatchObject({
      cause: 'not_a_panel',
      detail: `the panel is at ${host}, where it accepts the key, not at ${host}/games`,
    });
    const step = expect.objectContaining({ step: 'reach', change: `Set url to ${host}.` }) as object;
    expect(reportDocument(report)).toMatchObject({
      panels: [{ steps: expect.arrayContaining([step]) as object }],
    });
  });

  it('is right if the panel is there, whatever is at the root', async () => {
    const host = await hostWhere('/nowhere', page(404));
    const report = await examined({ yaml: yamlFor(`${host}/games`) });
    expect(panelFinding(report, 'reach')).toMatchObject({ result: 'ok' });
    expect(panelFinding(report, 'key')).toMatchObject({ result: 'ok' });
    expect(report.panels[0]?.servers[0]?.steps[0]).toMatchObject({ cause: 'not_found' });
  });

  it('leaves a rejected key as the cause if the root rejects it too', async () => {
    const host = await hostWhere('/', json(401, UNAUTHENTICATED));
    const report = await examined({ yaml: yamlFor(`${host}/games`) });
    expect(panelFinding(report, 'key')).toMatchObject({ cause: 'key_refused' });
  });
});
