import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import { SystemClock } from '../../../src/domain/clock.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { type Examination, examined, problemsOf, serverNamed, shownOf } from '../../support/doctor.ts';
import { configFor, fastClock } from '../../support/exporter.ts';
import { envelope, json, page, RESOURCES, scriptedServer } from '../panel/scripted-server.ts';

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
  /** Sets the panel up, and returns the configuration for it. */
  readonly arrange: () => Promise<Examination>;
  readonly says: RegExp;
}

const unreached: readonly Row[] = [
  {
    cause: 'dns',
    what: 'its name is unknown',
    // The machine's name service takes real time.
    arrange: async () => ({ yaml: yamlFor('https://panel.invalid'), clock: new SystemClock() }),
    says: /resolving panel\.invalid failed/,
  },
  {
    cause: 'connection',
    what: 'nothing listens on its port',
    arrange: async () => ({ yaml: yamlFor('https://127.0.0.1:1') }),
    says: /ECONNREFUSED/,
  },
  {
    cause: 'timeout',
    what: 'it accepts connections and never responds',
    arrange: async () => ({
      yaml: yamlFor(`http://127.0.0.1:${await tcp(() => undefined)}`, ['request_timeout: 100ms']),
    }),
    says: /no response from 127/,
  },
  {
    cause: 'tls_plain_port',
    what: 'https to a port that speaks plain HTTP',
    arrange: async () => ({ yaml: yamlFor((await simulated()).url.replace('http:', 'https:')) }),
    says: /TLS with .* failed/,
  },
  {
    cause: 'https_needed',
    what: 'http to a port that closes the connection',
    arrange: async () => ({
      yaml: yamlFor(`http://127.0.0.1:${await tcp((socket) => socket.once('data', () => socket.destroy()))}`),
    }),
    says: /the connection to .* was closed/,
  },
  {
    cause: 'https_needed',
    what: 'http to an nginx port that speaks TLS',
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
    arrange: async () => ({ yaml: yamlFor('https://panel.invalid', ['proxy_url: http://127.0.0.1:1']) }),
    says: /\S/,
  },
  ...[403, 407].map(
    (status): Row => ({
      cause: 'proxy',
      what: `the proxy responds with ${status}`,
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
    arrange: async () => ({ yaml: yamlFor(await scripted(page(200))) }),
    says: /the body is a page, not JSON/,
  },
  {
    cause: 'login_page',
    what: 'basic authentication in front of it',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(401))) }),
    says: /returned 401/,
  },
  {
    cause: 'challenge_page',
    what: 'a bot challenge in front of it',
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
    arrange: async () => ({ yaml: yamlFor(await scripted(page(403))) }),
    says: /returned 403/,
  },
  {
    cause: 'not_a_panel',
    what: 'another web site',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(404))) }),
    says: /returned 404/,
  },
  {
    cause: 'panel_down',
    what: "its reverse proxy can't reach it",
    arrange: async () => ({ yaml: yamlFor(await scripted(page(502))) }),
    says: /returned 502/,
  },
  {
    cause: 'panel_error',
    what: 'a page of PHP errors',
    arrange: async () => ({ yaml: yamlFor(await scripted(page(500))) }),
    says: /returned 500/,
  },
  {
    cause: 'bad_answer',
    what: "JSON that isn't a response of the API",
    arrange: async () => ({ yaml: yamlFor(await scripted(json(200, { hello: 'world' }))) }),
    says: /returned 200: /,
  },
];

const keys: readonly Row[] = [
  {
    cause: 'key_refused',
    what: 'the key is refused with 401',
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

const warnings: readonly Row[] = [
  {
    cause: 'limit_unknown',
    what: 'no header states it',
    arrange: async () => ({
      yaml: yamlFor(await scripted(json(200, RESOURCES))).replace('1a7ce997', '1a7ce997, mode: poll'),
    }),
    says: /reports no rate limit/,
  },
  {
    cause: 'pinned_too_high',
    what: "the pinned rate exceeds the panel's limit",
    arrange: async () => ({ yaml: configFor(await simulated(), ['requests_per_minute: 1000']) }),
    says: /is 1000, but the panel allows 240/,
  },
  {
    cause: 'rate_limited',
    what: 'other clients used up the limit, and doctor waits',
    arrange: async () => {
      const panel = await simulated();
      panel.failRest({ kind: 'refuse', status: 429, headers: { 'retry-after': '600' } });
      return { yaml: configFor(panel) };
    },
    says: /429/,
  },
];

describe('a problem of a panel', () => {
  it.each([...unreached, ...unauthenticated, ...keys])('$cause: $what', async ({ cause, arrange, says }) => {
    const report = await examined(await arrange());
    expect(problemsOf(report)).toEqual([
      expect.objectContaining({
        cause,
        result: 'failed',
        detail: expect.stringMatching(says) as string,
        nodes: [],
        servers: [],
      }),
    ]);
    expect(new Set(report.panels[0]?.servers.map(({ result }) => result))).toEqual(new Set(['untested']));
    expect(isAllHealthy(report)).toBe(false);
    expect(shownOf(report)).toContain(CAUSES[cause].remedy);
    expect(shownOf(report)).not.toMatch(/ptl[ac]_(?!…)|eyJ|TopSecret/);
  });

  it.each(warnings)('$cause, as a warning: $what', async ({ cause, arrange, says }) => {
    const report = await examined(await arrange());
    expect(problemsOf(report)).toContainEqual(
      expect.objectContaining({
        cause,
        result: 'warning',
        detail: expect.stringMatching(says) as string,
      }),
    );
    expect(shownOf(report)).toContain(CAUSES[cause].remedy);
  });

  it("fails like serve if the environment's proxy isn't a valid address", async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://me:TopSecretPassword@');
    const running = examined({ yaml: yamlFor('https://panel.example.com') });
    await expect(running).rejects.toThrow(/HTTPS_PROXY is not a proxy's address/);
    await expect(running).rejects.not.toThrow('TopSecret');
  });
});

describe('a single failing server, which puts the key in doubt', () => {
  it('is distinguished from a rejected key by other servers if the panel has no server list', async () => {
    const panel = await simulated({ servers: 3 });
    const [first, ...others] = panel.servers;
    panel.failRest({ kind: 'refuse', status: 404, endpoint: 'listing' });
    panel.failRest({ kind: 'refuse', status: 401, shape: 'message', server: first?.uuid });
    const report = await examined({ yaml: configFor(panel) });
    expect(problemsOf(report).filter(({ servers }) => servers.length > 0)).toMatchObject([
      { cause: 'unauthorized', servers: [first?.name] },
    ]);
    for (const { name } of others) expect(serverNamed(report, name)).toMatchObject({ result: 'ok' });
  });
});

describe('a firewall that blocks one path of a panel', () => {
  it('is a problem of the panel, while the configured servers have data', async () => {
    const panel = await simulated();
    const body = '<html><head><title>Attention Required! | Cloudflare</title></head></html>';
    const headers = { 'content-type': 'text/html' };
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'listing', body, headers });
    const report = await examined({ yaml: configFor(panel, ['discover: { type: owner }']) });
    expect(problemsOf(report)).toContainEqual(
      expect.objectContaining({
        cause: 'challenge_page',
        detail: expect.stringContaining('Attention Required!') as string,
        servers: [],
      }),
    );
    expect(serverNamed(report, 'survival')).toMatchObject({ result: 'ok', condition: 'streaming' });
  });

  it('is one problem of the panel if all consoles are blocked, and the servers are polled', async () => {
    const clock = fastClock(20);
    const panel = await simulated({ servers: 30, rateLimitPerMinute: 60_000, clock });
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'websocket', shape: 'html' });
    const report = await examined({ yaml: configFor(panel), clock });
    expect(problemsOf(report)).toMatchObject([{ cause: 'challenge_page', servers: [] }]);
    expect(new Set(report.panels[0]?.servers.map(({ condition }) => condition))).toEqual(
      new Set(['polling']),
    );
  });
});

describe('console tokens that no server gets', () => {
  it('are one problem of the panel', async () => {
    // At a higher speed, each server would have used its calls for tokens before one is left for the check.
    const clock = fastClock(10);
    const panel = await simulated({ servers: 6, clock });
    panel.failRest({ kind: 'garbage', endpoint: 'websocket' });
    const report = await examined({ yaml: configFor(panel), clock, random: () => 0.9 });
    expect(problemsOf(report)).toMatchObject([
      { cause: 'bad_answer', detail: expect.stringContaining('the body is not JSON') as string, servers: [] },
    ]);
  });
});

describe('an account without the console permission on any server', () => {
  it("is reported as a problem of the key, while each server's resources are fine", async () => {
    const panel = await simulated({ servers: 3 });
    panel.failRest({ kind: 'refuse', status: 403, endpoint: 'websocket' });
    const report = await examined({ yaml: configFor(panel) });
    expect(problemsOf(report)).toMatchObject([{ cause: 'key_console_permission', servers: [] }]);
    expect(new Set(report.panels[0]?.servers.map(({ condition }) => condition))).toEqual(
      new Set(['polling']),
    );
  });
});
