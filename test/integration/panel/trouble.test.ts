import { describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../src/domain/reading.ts';
import type { Simulator } from '../../../src/simulator/api.ts';
import type { RestFault } from '../../../src/simulator/schema.ts';
import { type PanelWatch, watchPanel, yamlFor } from '../../support/panel-watch.ts';

const MINUTE_MS = 60_000;
const SERVERS = 20;

const IP_LIMIT =
  'This IP address (203.0.113.7) does not have permission to access the API using these credentials.';

const CHALLENGE: RestFault = {
  kind: 'refuse',
  status: 403,
  body: '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>',
  headers: { 'content-type': 'text/html; charset=UTF-8' },
};

const all = (watch: PanelWatch) => () => expect(watch.streaming).toBe(watch.servers.length);
const blockedOf = ({ servers }: PanelWatch) => servers.filter(({ status }) => status.blocked !== undefined);
const messages = (watch: PanelWatch, ...levels: readonly ('warn' | 'error')[]) =>
  watch.lines(...levels).map(({ message }) => message);

/** The calls of one trial follow each other at once, or after a time-out. */
const TRIAL_MS = 11_000;

/** Since the panel counted as down, single calls tried it: after 15 s, after another 30 s, and then once a minute. */
function expectFewTrials(calls: Simulator['record']['calls'], foundAt: number): void {
  const after = calls.filter(({ at }) => at > foundAt + 2_000).map(({ at }) => at);
  // A trial is a call of each kind, one after another.
  const trials = after.filter((at, index) => at - (after[index - 1] ?? foundAt) > TRIAL_MS);
  const gaps = trials.map((at, index) => at - (trials[index - 1] ?? foundAt));
  expect(trials).not.toHaveLength(0);
  // The time that a trial takes varies.
  for (const [index, gap] of gaps.entries())
    expect(gap).toBeGreaterThan(0.8 * ([15_000, 30_000][index] ?? MINUTE_MS));
}

/** Closes every socket and revokes every token, so that all servers need the panel at once. */
function loseSockets(panel: Simulator): void {
  const text = 'jwt: created too far in past (denylist)';
  panel.failSockets({ kind: 'jwt-error-on-auth', text, times: panel.servers.length });
  panel.sockets({ kind: 'drop' });
}

/** An outage of the whole panel that is reported once, tried rarely, and over soon after its end. */
interface Outage {
  readonly fault: RestFault;
  readonly cause: string;
  readonly reason: RegExp;
  /** All sockets are closed when it begins. */
  readonly cuts?: boolean;
}

async function expectOutage(
  watch: PanelWatch,
  { fault, cause, reason, cuts = false }: Outage,
): Promise<void> {
  const { panel, clock } = watch;
  panel.failRest(fault);
  if (cuts) loseSockets(panel);
  const beganAt = clock.now();
  await watch.until(() => expect(watch.reading.up).toBe(false), MINUTE_MS);
  const foundAt = clock.now();
  expect(watch.causes).toEqual([cause]);
  while (clock.now() - beganAt < 95_000 || clock.now() - foundAt < 1.2 * MINUTE_MS) {
    expect(watch.reading.up).toBe(false);
    expect(blockedOf(watch)).toEqual([]);
    await watch.during(1_000);
  }
  expectFewTrials(panel.record.calls, foundAt);
  panel.clearFaults();
  await watch.until(all(watch), 90_000);
  expect(watch.reading).toMatchObject({ up: true, problems: [] });
  const errors = messages(watch, 'error');
  expect(errors).toEqual([expect.stringMatching(reason)]);
  // Servers don't report the panel's outage themselves, only the loss of their socket.
  expect(watch.lines('warn').filter(({ fields }) => (fields as { cause?: string }).cause === cause)).toEqual(
    [],
  );
}

describe('an outage of the whole panel', () => {
  it.each<[string, Outage]>([
    [
      'a firewall page while sockets are closed',
      {
        fault: CHALLENGE,
        cause: 'challenge_page',
        reason: /blocked by a firewall or bot check: .*returned 403: "Attention Required! \| Cloudflare"/,
        cuts: true,
      },
    ],
  ])('is detected within a minute and over 90 s after its end: %s', async (_name, outage) => {
    await watchPanel({}, async (watch) => {
      await watch.until(all(watch), MINUTE_MS);
      await expectOutage(watch, outage);
    });
  });

  it('by a key that is limited to other addresses from the start blocks no server', async () => {
    const fault: RestFault = { kind: 'refuse', status: 403, shape: 'errors', detail: IP_LIMIT };
    await watchPanel({ before: (panel) => panel.failRest(fault) }, async (watch) => {
      await watch.until(() => expect(watch.causes).toEqual(['key_address']), MINUTE_MS);
      const foundAt = watch.clock.now();
      await watch.during(3 * MINUTE_MS, () => {
        expect(watch.reading.up).toBe(false);
        expect(blockedOf(watch)).toEqual([]);
      });
      expectFewTrials(watch.panel.record.calls, foundAt);
      expect(messages(watch, 'warn', 'error')).toHaveLength(1);
      expect(watch.servers.map(({ status }) => status.problem?.cause)).toEqual(
        Array.from({ length: SERVERS }, () => 'key_address'),
      );
      watch.panel.clearFaults();
      await watch.until(all(watch), 90_000);
    });
  });

  it('ends at once with another key, and has no effect on any server afterwards', async () => {
    await watchPanel({ before: (panel) => panel.revokeKey(panel.apiKey) }, async (watch) => {
      const { panel } = watch;
      await watch.until(() => expect(watch.causes).toEqual(['key_refused']), MINUTE_MS);
      const key = 'ptlc_another0key0for0the0same0panel0and0account00';
      panel.acceptKey(key);
      await watch.apply(yamlFor(panel, [], key));
      const tookMs = await watch.until(all(watch), MINUTE_MS);
      expect(tookMs).toBeLessThan(40_000);
      expect(watch.reading).toMatchObject({ up: true, problems: [] });
    });
  });
});

describe('a problem of one node', () => {
  const LOST = 5;
  const lost = (panel: Simulator) => panel.servers.slice(0, LOST).map(({ name }) => name);

  it("leaves the panel up even if its resources time out, and doesn't affect the servers of other nodes", async () => {
    const before = (panel: Simulator) => {
      for (const name of lost(panel)) panel.move(name);
    };
    // Without a server list, a node is identified by the address of its sockets.
    await watchPanel({ before, settings: ['limits_from_listing: false'] }, async (watch) => {
      const { panel } = watch;
      await watch.until(all(watch), MINUTE_MS);
      const dead = `127.0.0.1:${new URL(panel.secondNodeUrl).port}`;
      for (const server of lost(panel)) {
        panel.failRest({ kind: 'hang', endpoint: 'resources', server });
        panel.setNodeDown(server, true);
      }
      const stays = () => {
        expect(watch.reading.up).toBe(true);
        expect(watch.reading.problems).toEqual([]);
        expect(watch.streaming).toBeGreaterThanOrEqual(SERVERS - LOST);
      };
      await watch.during(90_000, stays);
      await watch.during(2 * MINUTE_MS, () => {
        stays();
        expect(watch.nodes).toEqual(
          expect.arrayContaining([
            {
              name: dead,
              up: false,
              problem: expect.objectContaining({
                cause: expect.stringMatching(/^node_(?:silent|connection)$/) as string,
              }) as unknown,
            },
            { name: `127.0.0.1:${new URL(panel.url).port}`, up: true },
          ]),
        );
      });
      expect(messages(watch, 'error')).toEqual([]);
      panel.clearFaults();
      for (const server of lost(panel)) panel.setNodeDown(server, false);
      await watch.until(all(watch), 6 * MINUTE_MS);
      expect(watch.nodes.every(({ up }) => up)).toBe(true);
    });
  });

  it.each([
    [401, 'node_token_mismatch'],
    [403, 'node_token_mismatch'],
    [404, 'server_not_on_node'],
    [500, 'node_error'],
  ])(
    "%i, passed on by the panel, is shown as %s, and means nothing for the key or a server's access",
    async (status, cause) => {
      const body = JSON.stringify({
        errors: [{ code: 'DaemonConnectionException', status: '504', detail: `No. (code: ${status})` }],
      });
      const fault: RestFault = { kind: 'refuse', endpoint: 'resources', status: 504, body };
      await watchPanel({ panel: { servers: 4 } }, async (watch) => {
        await watch.apply(yamlFor(watch.panel).replaceAll('" }', '", mode: poll }'));
        const isPolled = ({ status: { condition } }: ServerReading) => condition === 'polling';
        await watch.until(() => expect(watch.servers.every(isPolled)).toBe(true), MINUTE_MS);
        watch.panel.failRest(fault);
        await watch.until(
          () => expect(watch.servers.map(({ status: { problem } }) => problem?.cause)).toContain(cause),
          3 * MINUTE_MS,
        );
        await watch.during(2 * MINUTE_MS, () => {
          expect(blockedOf(watch)).toEqual([]);
          expect(watch.reading).toMatchObject({ up: true, problems: [] });
        });
        expect(messages(watch, 'error')).toEqual([]);
      });
    },
  );
});

describe('a problem of one path', () => {
  const DISCOVER = ['discover: { type: owner }'];

  it('that blocks the server list is shown while credentials pass, and everything streams', async () => {
    await watchPanel({ settings: DISCOVER }, async (watch) => {
      await watch.until(all(watch), MINUTE_MS);
      watch.panel.failRest({ ...CHALLENGE, endpoint: 'listing' });
      watch.panel.sockets({ kind: 'drop' });
      await watch.during(10_000);
      await watch.until(all(watch), MINUTE_MS);
      await watch.until(() => expect(watch.causes).toEqual(['challenge_page']), 20 * MINUTE_MS);
      await watch.during(MINUTE_MS, () => expect(watch.reading.up).toBe(true));
      const warnings = messages(watch, 'warn').filter((line) => line.includes('for listing calls only'));
      expect(warnings).toHaveLength(1);
      expect(messages(watch, 'error')).toEqual([]);
      watch.panel.clearFaults();
      await watch.until(() => expect(watch.causes).toEqual([]), 11 * MINUTE_MS);
    });
  });

  it('that blocks credentials is shown while the server list passes, and servers are polled', async () => {
    await watchPanel({ panel: { servers: 6 } }, async (watch) => {
      await watch.until(all(watch), MINUTE_MS);
      watch.panel.failRest({ ...CHALLENGE, endpoint: 'websocket' });
      loseSockets(watch.panel);
      await watch.until(() => {
        expect(watch.causes).toEqual(['challenge_page']);
        expect(watch.servers.map(({ status }) => status.condition)).toEqual(
          Array.from({ length: 6 }, () => 'polling'),
        );
      }, 3 * MINUTE_MS);
      await watch.during(3 * MINUTE_MS, () => expect(watch.reading.up).toBe(true));
      expect(messages(watch, 'error')).toEqual([]);
      expect(blockedOf(watch)).toEqual([]);
      watch.panel.clearFaults();
      await watch.until(all(watch), 6 * MINUTE_MS);
      expect(watch.causes).toEqual([]);
    });
  });
});
