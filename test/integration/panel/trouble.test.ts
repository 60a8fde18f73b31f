import { describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/api.ts';
import type { RestFault } from '../../../src/simulator/schema.ts';
import { type PanelWatch, watchPanel, yamlFor } from '../../support/panel-watch.ts';

const MINUTE_MS = 60_000;
const SERVERS = 20;

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

describe('an outage of the whole panel', () => {
  it('is detected within a minute, reported once, tried rarely and over 90 s after its end', async () => {
    await watchPanel({}, async (watch) => {
      const { panel, clock } = watch;
      await watch.until(all(watch), MINUTE_MS);
      panel.failRest(CHALLENGE);
      loseSockets(panel);
      const beganAt = clock.now();
      await watch.until(() => expect(watch.reading.up).toBe(false), MINUTE_MS);
      const foundAt = clock.now();
      expect(watch.causes).toEqual(['challenge_page']);
      while (clock.now() - beganAt < 95_000 || clock.now() - foundAt < 1.2 * MINUTE_MS) {
        expect(watch.reading.up).toBe(false);
        expect(blockedOf(watch)).toEqual([]);
        await watch.during(1_000);
      }
      expectFewTrials(panel.record.calls, foundAt);
      panel.clearFaults();
      await watch.until(all(watch), 90_000);
      expect(watch.reading).toMatchObject({ up: true, problems: [] });
      expect(messages(watch, 'error')).toEqual([
        expect.stringMatching(
          /blocked by a firewall or bot check: .*returned 403: "Attention Required! \| Cloudflare"/,
        ),
      ]);
      // Servers don't report the panel's outage themselves, only the loss of their socket.
      const causes = watch.lines('warn').map(({ fields }) => (fields as { cause?: string }).cause);
      expect(causes).not.toContain('challenge_page');
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
});
