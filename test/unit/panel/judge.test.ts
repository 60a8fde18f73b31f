import { beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import type { ApiEndpoint } from '../../../src/domain/telemetry.ts';
import { Gateway, type PanelGateway } from '../../../src/panel/gateway.ts';
import type { PanelUse } from '../../../src/panel/judge.ts';
import { FakeCalls, type Outcome } from '../../support/fake-calls.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A signal of its own for each call, as callers have: Node.js warns about many listeners on one. */
const never = () => new AbortController().signal;
const OWN_500: Outcome = { own: 'panel_error', status: 500 };
const OWN_404: Outcome = { own: 'not_found', status: 404 };
const BAD_GATEWAY: Outcome = { foreign: 'panel_down' };
const FIREWALL: Outcome = { foreign: 'challenge_page' };
const DENIED: Outcome = { own: 'no_console_permission' };

/** Twelve servers on three nodes. */
const SERVERS = Array.from({ length: 12 }, (_, index) => `s${index}`);
const nodeOf = (server: string) => `n${Number(server.slice(1)) % 3}`;

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let panel: FakeCalls;
let gateway: PanelGateway;

/** Uses the panel for these servers. */
function use(
  servers: readonly string[],
  listing: PanelUse['listing'] = 'optional',
  polled: readonly string[] = [],
): void {
  gateway.setUse({
    listing,
    servers: servers.length,
    consoles: servers,
    polled,
    onNode: (node) => servers.filter((server) => nodeOf(server) === node).length,
    knows: (word) => servers.some((server) => word === server || word === nodeOf(server)),
  });
}

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  panel = new FakeCalls(clock);
  gateway = new Gateway(
    {
      panel: 'main',
      log,
      clock,
      baseUrl: 'https://panel.example.com',
      apiKey: () => 'ptlc_key',
      requestTimeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      userAgent: 'test',
      telemetry: { message: () => {}, badMessage: () => {}, reconnect: () => {}, request: () => {} },
      pinnedPerMinute: 6_000,
    },
    panel,
  );
  use(SERVERS);
});

/** Makes the panel respond to some calls differently. */
const fail = (outcome: Outcome, isMeant: (endpoint: ApiEndpoint, server: string) => boolean = () => true) => {
  panel.decide = (endpoint, server) => (isMeant(endpoint, server) ? outcome : 'success');
};

/** Makes a call for each server, and again 5 s after each failure, as sessions do. */
function keepAsking(
  endpoint: 'websocket' | 'resources' | 'backups',
  servers: readonly string[] = SERVERS,
): void {
  for (const server of servers) void untilAnswered(endpoint, server);
}

async function untilAnswered(endpoint: ApiEndpoint, server: string): Promise<void> {
  const ask = () => {
    const it = { node: () => nodeOf(server), deadline: clock.now() };
    if (endpoint === 'websocket') return gateway.credentials(server, it, never());
    if (endpoint === 'resources') return gateway.resources(server, it, never());
    return gateway.backups({ id: server }, 1, it.deadline, never());
  };
  for (;;) {
    try {
      await ask();
      return;
    } catch {
      await sleep(clock, 5_000, never());
    }
  }
}

/** Polls each server every 10 s, for ever. */
function keepPolling(): void {
  for (const server of SERVERS) void poll(server);
}

async function poll(server: string): Promise<void> {
  for (;;) {
    await untilAnswered('resources', server);
    await sleep(clock, 10_000, never());
  }
}

const causes = () => gateway.problems.map(({ cause }) => cause);
const logged = (...levels: string[]) => log.lines.filter(({ level }) => levels.includes(level));

describe('the panel', () => {
  it('counts as down after two failed rounds of canaries, 15 s apart', async () => {
    fail(BAD_GATEWAY);
    keepAsking('websocket');
    await clock.advance(14_000);
    expect(gateway.health).toBe('unknown');
    await clock.advance(2_000);
    expect(gateway.health).toBe('down');
    expect(causes()).toEqual(['panel_down']);
    expect(logged('error')).toHaveLength(1);
  });

  it('counts as down after one round if it refuses the key', async () => {
    fail({ own: 'key_refused', status: 401 });
    keepAsking('websocket');
    await clock.advance(2_000);
    expect(causes()).toEqual(['key_refused']);
  });

  it('counts as down after two rounds if every call for a server returns 401, without a server list', async () => {
    use(SERVERS, 'none');
    fail({ own: 'unauthorized', status: 401 });
    keepAsking('websocket');
    await clock.advance(2_000);
    expect(gateway.health).toBe('unknown');
    await clock.advance(60_000);
    expect(causes()).toEqual(['key_refused']);
  });

  it.each([12, 2, 1])(
    "is asked for each server's console at most twice a minute, by canaries and sessions together: %d servers",
    async (count) => {
      const servers = SERVERS.slice(0, count);
      use(servers, 'none');
      keepAsking('websocket', servers);
      for (let outage = 0; outage < 20; outage += 1) {
        fail(outage % 2 === 0 ? BAD_GATEWAY : { own: 'panel_error', status: 500 });
        await clock.advance(5_000 + 3_700 * outage);
        panel.decide = () => 'success';
        await clock.advance(1_000);
        keepAsking('websocket', servers);
      }
      const most = servers.map((server) => {
        const asked = panel.calls.filter((call) => call.endpoint === 'websocket' && call.server === server);
        return Math.max(
          ...asked.map(({ at }) => asked.filter((call) => call.at > at - 60_000 && call.at <= at).length),
        );
      });
      expect(Math.max(...most)).toBe(2);
    },
  );

  it("is not asked by a canary if the server's session has used up its calls since the round began", async () => {
    use(['s0']);
    const ask = { node: () => 'n0', deadline: 0 };
    await Promise.all([gateway.credentials('s0', ask, never()), clock.advance(1_000)]);
    fail(BAD_GATEWAY);
    gateway.resources('s0', ask, never()).catch(() => undefined);
    await clock.advance(70);
    expect(panel.calls.at(-1)?.endpoint).toBe('listing');
    gateway.credentials('s0', ask, never()).catch(() => undefined);
    await clock.advance(10_000);
    expect(panel.count('websocket')).toBe(2);
  });

  it('is tried by single calls while it is down: after 15 s, after 30 s, and then once a minute', async () => {
    fail(BAD_GATEWAY);
    keepAsking('websocket');
    await clock.advance(16_000);
    const calls = panel.calls.length;
    const foundAt = panel.calls.at(-1)?.at ?? 0;
    await clock.advance(200_000);
    const trials = panel.calls.slice(calls).map(({ at }) => Math.round((at - foundAt) / 1_000));
    expect(trials).toEqual([15, 45, 105, 165]);
  });

  it.each<[string, ApiEndpoint]>([
    ['the server list', 'listing'],
    ['credentials', 'websocket'],
  ])('is up again with the first success, whatever succeeds: %s', async (_what, succeeds) => {
    fail(BAD_GATEWAY);
    keepAsking('websocket');
    await clock.advance(20_000);
    expect(gateway.health).toBe('down');
    fail(BAD_GATEWAY, (endpoint) => endpoint !== succeeds);
    await clock.advance(120_000);
    expect(gateway.health).toBe('up');
    expect(log.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('available again'),
    );
  });

  it('is up while half of all its responses are 502', async () => {
    let count = 0;
    panel.decide = () => ((count += 1) % 2 === 0 ? BAD_GATEWAY : 'success');
    keepPolling();
    let wasDown = false;
    gateway.onChange(() => (wasDown ||= gateway.health === 'down'));
    await clock.advance(300_000);
    expect(wasDown).toBe(false);
    expect(new Set(panel.calls.map(({ server }) => server)).size).toBe(SERVERS.length + 1);
  });

  it.each<[string, PanelUse['listing']]>([
    ['with a server list', 'optional'],
    ['without a server list', 'none'],
  ])(
    'has a wrong address if it responds to every call with its own 404, and blames no server, %s',
    async (_what, how) => {
      use(SERVERS, how);
      fail(OWN_404);
      const call = gateway.credentials('s0', { node: () => 'n0', deadline: 0 }, never());
      await Promise.all([
        expect(call).rejects.toMatchObject({ problem: { cause: 'not_a_panel' } }),
        clock.advance(60_000),
      ]);
      expect(causes()).toEqual(['not_a_panel']);
    },
  );

  it('is up if all its servers were deleted', async () => {
    fail(OWN_404, (endpoint) => endpoint !== 'listing');
    use(['s0'], 'none');
    keepAsking('websocket', ['s0']);
    await clock.advance(120_000);
    expect(gateway.health).toBe('up');
    expect(causes()).toEqual([]);
    expect(logged('warn', 'error')).toEqual([]);
  });

  it('that rejects the key from the start has one problem, which ends with it', async () => {
    panel.decide = (endpoint) => ({
      own: endpoint === 'listing' ? 'key_refused' : 'unauthorized',
      status: 401,
    });
    keepAsking('websocket');
    await clock.advance(10_000);
    expect(causes()).toEqual(['key_refused']);
    expect(logged('warn', 'error')).toHaveLength(1);
    panel.decide = () => 'success';
    await clock.advance(75_000);
    expect(causes()).toEqual([]);
    expect(gateway.socketHold('n0')).toBeUndefined();
  });

  it('is judged at once and within seconds if that is asked for', async () => {
    fail(BAD_GATEWAY);
    const verified = gateway.verify();
    await clock.advance(1_000);
    await verified;
    expect(gateway.health).toBe('down');
  });
});

describe('a path that fails while the panel works', () => {
  it.each<[string, Outcome]>([
    ['closes connections', { foreign: 'connection_cut' }],
    ['is silent', 'silence'],
    ['responds with 502', BAD_GATEWAY],
    ['is blocked by a firewall', FIREWALL],
    ['refuses the key', { own: 'key_refused', status: 401 }],
  ])('has one problem that shows it, which is logged once, if it %s', async (_what, outcome) => {
    fail(outcome, (endpoint) => endpoint === 'websocket');
    keepPolling();
    keepAsking('websocket');
    await clock.advance(120_000);
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toEqual([
      {
        cause: expect.any(String) as string,
        detail: expect.stringMatching(/^websocket calls only: /) as string,
      },
    ]);
    expect(gateway.socketHold('n0')?.cause).toBe(gateway.problems[0]?.cause);
    expect(gateway.pollHold('n0')).toBeUndefined();
    await clock.advance(600_000);
    expect(logged('warn', 'error')).toHaveLength(1);
    const since = clock.now();
    panel.decide = () => 'success';
    await clock.advance(90_000);
    expect(causes()).toEqual([]);
    expect(new Set(panel.calls.filter(({ at }) => at >= since).map(({ server }) => server)).size).toBe(12);
    expect(logged('info').at(-1)?.message).toContain('responds to websocket calls again');
  });

  it('is not reported to respond again when the whole panel fails', async () => {
    keepPolling();
    await clock.advance(20_000);
    fail(BAD_GATEWAY, (endpoint) => endpoint === 'websocket');
    keepAsking('websocket');
    await clock.advance(60_000);
    expect(causes()).toEqual(['panel_down']);
    expect(gateway.health).toBe('up');
    fail(BAD_GATEWAY);
    await clock.advance(120_000);
    expect(gateway.health).toBe('down');
    expect(logged('info').filter(({ message }) => message.includes('again'))).toEqual([]);
  });

  it('makes few calls meanwhile', async () => {
    fail(FIREWALL, (endpoint) => endpoint === 'websocket');
    keepPolling();
    keepAsking('websocket');
    await clock.advance(60_000);
    await clock.advance(600_000);
    expect(panel.count('websocket', clock.now() - 600_000)).toBeLessThanOrEqual(10);
  });

  it.each<[string, Outcome]>([
    ['cut', { foreign: 'connection_cut' }],
    ['silent', 'silence'],
  ])('is the only problem if it is that of backups, and %s', async (_what, outcome) => {
    fail(outcome, (endpoint) => endpoint === 'backups');
    keepPolling();
    keepAsking('backups', SERVERS.slice(0, 3));
    await clock.advance(300_000);
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toMatchObject([
      { detail: expect.stringMatching(/^backups calls only/) as string },
    ]);
    expect(gateway.socketHold('n0')).toBeUndefined();
    expect(logged('error')).toEqual([]);
  });

  it("isn't there if a server list that is needed returns 404", async () => {
    use(SERVERS, 'required');
    keepPolling();
    await clock.advance(20_000);
    fail(OWN_404, (endpoint) => endpoint === 'listing');
    void gateway.listing({ page: 1, perPage: 100 }, 0, never()).catch(() => undefined);
    await clock.advance(60_000);
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toMatchObject([
      { cause: 'not_a_panel', detail: expect.stringMatching(/^listing calls only/) as string },
    ]);
  });

  it('is over within a minute of its end if no server asks for polls any more', async () => {
    use(SERVERS, 'optional', SERVERS);
    fail(FIREWALL, (endpoint) => endpoint === 'resources');
    const scopes = SERVERS.map(() => new AbortController());
    keepAsking('websocket');
    for (const [index, server] of SERVERS.entries())
      gateway
        .resources(server, { node: () => nodeOf(server), deadline: 0 }, scopes[index]?.signal ?? never())
        .catch(() => undefined);
    await clock.advance(20_000);
    for (const scope of scopes) scope.abort();
    await clock.advance(600_000);
    expect(gateway.problems).toMatchObject([
      { detail: expect.stringMatching(/^resources calls only/) as string },
    ]);
    expect(panel.count('resources', clock.now() - 600_000)).toBeLessThanOrEqual(10);
    panel.decide = () => 'success';
    await clock.advance(61_000);
    expect(causes()).toEqual([]);
    const since = clock.now();
    await clock.advance(600_000);
    expect(panel.count('resources', since)).toBe(0);
  });

  it("isn't shown if it is a server list that isn't needed", async () => {
    fail(FIREWALL, (endpoint) => endpoint === 'listing');
    keepPolling();
    void gateway.listing({ page: 1, perPage: 100 }, 0, never()).catch(() => undefined);
    await clock.advance(60_000);
    expect(gateway.health).toBe('up');
    expect(causes()).toEqual([]);
  });
});

describe('a node', () => {
  const isOfNode = (node: string) => (_endpoint: ApiEndpoint, server: string) =>
    server !== '' && nodeOf(server) === node;

  it("has an error of its own if only its servers' calls return 500 in the panel's own form", async () => {
    fail(OWN_500, isOfNode('n1'));
    keepPolling();
    keepAsking('websocket');
    await clock.advance(180_000);
    expect(gateway.health).toBe('up');
    expect(causes()).toEqual([]);
    expect(gateway.nodeProblem('n1')).toMatchObject({ cause: 'node_error' });
    expect(gateway.nodeProblem('n0')).toBeUndefined();
  });

  it('works again once a token is granted, even if none is needed for a new socket', async () => {
    fail(OWN_500, isOfNode('n1'));
    keepPolling();
    keepAsking('websocket');
    await clock.advance(180_000);
    panel.decide = () => 'success';
    const ask = { node: () => 'n1', deadline: 0, isRefresh: true };
    await Promise.all([gateway.credentials('s1', ask, never()), clock.advance(1_000)]);
    expect(gateway.nodeProblem('n1')).toBeUndefined();
  });

  it('has no problem with polls any more once its sockets work, because nothing polls its servers', async () => {
    fail({ own: 'node_unreachable', status: 504 }, (endpoint, server) => {
      return endpoint === 'resources' && nodeOf(server) === 'n1';
    });
    keepPolling();
    for (const server of ['s1', 's4', 's7'])
      gateway.socketEnded(server, 'n1', { cause: 'node_connection', detail: 'connection refused' });
    await clock.advance(60_000);
    expect(gateway.pollHold('n1')).toBeDefined();
    gateway.socketEnded('s1', 'n1', undefined);
    expect(gateway.nodeProblem('n1')).toBeUndefined();
  });

  it('is silent if only its polls time out', async () => {
    fail('silence', isOfNode('n1'));
    keepPolling();
    await clock.advance(180_000);
    expect(gateway.nodeProblem('n1')).toMatchObject({ cause: 'node_silent' });
    expect(gateway.health).toBe('up');
    expect(causes()).toEqual([]);
    expect(gateway.pollHold('n0')).toBeUndefined();
  });

  it("isn't to blame if all polls of several nodes time out: the path is", async () => {
    fail('silence', (endpoint) => endpoint === 'resources');
    keepPolling();
    await clock.advance(300_000);
    expect(gateway.health).toBe('up');
    expect(gateway.problems).toMatchObject([
      { cause: 'timeout', detail: expect.stringMatching(/^resources calls only/) as string },
    ]);
    const nodes = ['n0', 'n1', 'n2'].map((node) => gateway.nodeProblem(node));
    expect(nodes).toEqual([undefined, undefined, undefined]);
  });

  it('is unreachable if the panel has no data of its servers', async () => {
    fail('empty', isOfNode('n2'));
    // A poll without data is a response, so a session polls again.
    for (let round = 0; round < 4; round += 1) {
      keepAsking('resources');
      await clock.advance(30_000);
    }
    expect(gateway.nodeProblem('n2')).toMatchObject({ cause: 'node_unreachable' });
    expect(gateway.nodeProblem('n0')).toBeUndefined();
    expect(gateway.health).toBe('up');
  });

  it('has the problem of its sockets, which is more exact than that of its polls', async () => {
    fail('silence', isOfNode('n1'));
    keepPolling();
    await clock.advance(180_000);
    for (const server of ['s1', 's4', 's7'])
      gateway.socketEnded(server, 'n1', { cause: 'node_connection', detail: 'refused' });
    expect(gateway.nodeProblem('n1')).toEqual({ cause: 'node_connection', detail: 'refused' });
    expect(gateway.isSocketOpen('n1')).toBe(false);
    gateway.socketEnded('s1', 'n1', undefined);
    expect(gateway.isSocketOpen('n1')).toBe(true);
  });

  it("has no problem because of a server's own", () => {
    for (const server of ['s1', 's4', 's7'])
      gateway.socketEnded(server, 'n1', { cause: 'no_console_permission', detail: '403' });
    expect(gateway.isSocketOpen('n1')).toBe(true);
  });
});

describe('an account that is denied every console', () => {
  beforeEach(async () => {
    fail(DENIED, (endpoint) => endpoint === 'websocket');
    keepAsking('websocket');
    await clock.advance(60_000);
  });

  it('has the one problem, and asks for one console every five minutes', async () => {
    expect(gateway.health).toBe('up');
    expect(causes()).toEqual(['key_console_permission']);
    expect(gateway.socketHold('n0')).toMatchObject({ cause: 'key_console_permission' });
    const since = clock.now();
    await clock.advance(1_500_000);
    expect(panel.count('websocket', since)).toBe(5);
    expect(logged('warn')).toHaveLength(1);
  });

  it('is granted all of them with the first', async () => {
    panel.decide = () => 'success';
    const since = clock.now();
    await clock.advance(301_000);
    expect(causes()).toEqual([]);
    expect(panel.count('websocket', since)).toBe(SERVERS.length);
    expect(log.lines.at(-1)?.message).toContain('grants console access again');
  });
});

it('an account that is denied all consoles but one has no problem', async () => {
  fail(DENIED, (endpoint, server) => endpoint === 'websocket' && server !== 's7');
  keepAsking('websocket');
  await clock.advance(60_000);
  expect(causes()).toEqual([]);
});

describe.each(['keyChanged', 'accessChanged'] as const)('%s', (change) => {
  it('leaves a panel that worked up', async () => {
    keepPolling();
    await clock.advance(1_000);
    gateway[change]();
    expect(gateway.health).toBe('up');
  });

  it('forgets the problem of a panel, whose end is logged when a call has shown it', async () => {
    fail(BAD_GATEWAY);
    keepPolling();
    await clock.advance(60_000);
    gateway[change]();
    expect([gateway.health, causes()]).toEqual(['unknown', []]);
    expect(logged('info')).toEqual([]);
    panel.decide = () => 'success';
    await clock.advance(10_000);
    expect(gateway.health).toBe('up');
    expect(logged('info').map(({ message }) => message)).toEqual([
      'panel main (https://panel.example.com) is available again: resuming calls',
    ]);
  });
});

it.each([
  ['keyChanged', false],
  ['accessChanged', true],
] as const)('after %s, nodes with a problem of their own are tried again: %s', (change, isTried) => {
  for (const server of ['s1', 's4', 's7'])
    gateway.socketEnded(server, 'n1', { cause: 'node_connection', detail: 'refused' });
  gateway[change]();
  expect(gateway.isSocketOpen('n1')).toBe(isTried);
});

describe('what is explained by the panel', () => {
  it("is no longer a node's or a path's", async () => {
    fail('silence', (endpoint, server) => endpoint === 'resources' && nodeOf(server) === 'n1');
    keepPolling();
    keepAsking('websocket');
    await clock.advance(180_000);
    expect(gateway.nodeProblem('n1')).toBeDefined();
    fail('silence');
    await clock.advance(120_000);
    expect(causes()).toEqual(['timeout']);
    expect(gateway.nodeProblem('n1')).toBeUndefined();
    expect(gateway.pollHold('n1')).toEqual(gateway.problem);
  });

  it('leaves what only a node can cause to the node', async () => {
    for (const server of ['s1', 's4', 's7'])
      gateway.socketEnded(server, 'n1', { cause: 'node_connection', detail: 'refused' });
    fail(BAD_GATEWAY);
    keepPolling();
    await clock.advance(60_000);
    expect(causes()).toEqual(['panel_down']);
    expect(gateway.nodeProblem('n1')).toMatchObject({ cause: 'node_connection' });
  });
});
