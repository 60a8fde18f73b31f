// Faults that affect the data about a server.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NO_STOPS, type StopCounts } from '../../../src/domain/stops.ts';
import { SILENCE_MS } from '../../../src/session/machine-effects.ts';
import { DARK, pictureOf, STREAMING } from '../../support/fault-picture.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import type { Scene } from '../../support/fault-scene.ts';
import { NEIGHBORS, TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import type { Scraped } from '../../support/scrape-watch.ts';
import { AT_ONCE_MS, TOKENS_MS } from './bounds.ts';

const MINUTE_MS = 60_000;

/**
 * The time after which a daemon's late messages have arrived and the reason of a stop is known. The
 * reason is decided after ten seconds.
 */
const SETTLES_MS = 12_000;

const valueOf = (scraped: Scraped, name: string, server = TARGET) => scraped.value(name, { server });

/** Asserts the target server's counters, when no more changes are pending. */
async function expectCounted(
  scene: Scene,
  { starts, ...stops }: { starts: number } & Partial<StopCounts>,
): Promise<void> {
  await waitFor(scene, SETTLES_MS);
  await scene.watch.until((scraped) => {
    expect(valueOf(scraped, 'gameserver_starts_total')).toBe(starts);
    const counted = scraped.series('gameserver_stops_total', { server: TARGET });
    expect(Object.fromEntries(counted.map(({ labels, value }) => [labels['reason'], value]))).toEqual({
      ...NO_STOPS,
      ...stops,
    });
  }, SETTLES_MS);
}

async function waitFor({ watch, clock }: Scene, ms: number): Promise<void> {
  const from = clock.now();
  await watch.until(() => expect(clock.now() - from).toBeGreaterThan(ms), 2 * ms);
}

/** Waits until the exporter shows this state of the target server. */
const untilState = (scene: Scene, state: string) =>
  scene.watch.until((scraped) => expect(pictureOf(scraped).state).toBe(state), MINUTE_MS);

/**
 * Waits until the target server has this state in the simulated panel, even if the exporter doesn't
 * see it.
 */
const untilTrue = (scene: Scene, state: string) =>
  scene.watch.until(() => expect(scene.panel.server(TARGET).state).toBe(state), MINUTE_MS);

function loseSockets({ panel }: Scene): void {
  panel.failSockets({ kind: 'drop-upgrade', server: TARGET });
  panel.sockets({ kind: 'drop', server: TARGET });
}

const clearFaults = ({ panel }: Scene) => panel.clearFaults();
const socketsOpened = ({ panel }: Scene) => panel.record.sockets(TARGET_UUID).opened;
const tokenCalls = ({ panel }: Scene) =>
  panel.record.calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === TARGET_UUID);

/** Events while no socket is open and no poll runs. */
const gaps: readonly FaultRow[] = [
  {
    name: 'a start without a socket, of a server that was off',
    scene: { mode: 'socket' },
    arrange: async (scene) => {
      scene.panel.power(TARGET, 'stop');
      await untilState(scene, 'offline');
      loseSockets(scene);
      scene.panel.power(TARGET, 'start');
      await untilTrue(scene, 'running');
    },
    during: { condition: 'failing', streaming: 0 },
    lift: clearFaults,
    recoveryMs: TOKENS_MS,
    afterwards: (scene) => expectCounted(scene, { starts: 1, requested: 1 }),
  },
  {
    name: 'a restart without a socket, of a run that was shorter than the next one',
    scene: { mode: 'socket' },
    arrange: async (scene) => {
      scene.panel.power(TARGET, 'restart');
      await expectCounted(scene, { starts: 1, requested: 1 });
      loseSockets(scene);
      scene.panel.power(TARGET, 'restart');
      await untilTrue(scene, 'running');
      await waitFor(scene, MINUTE_MS);
    },
    during: { condition: 'failing', streaming: 0 },
    lift: clearFaults,
    recoveryMs: TOKENS_MS,
    // The end of the second run wasn't seen, so its reason is unknown.
    afterwards: (scene) => expectCounted(scene, { starts: 2, requested: 1, unknown: 1 }),
  },
];

const starts = (scraped: Scraped) => valueOf(scraped, 'gameserver_starts_total');

/**
 * So slow that a status lasts two seconds, which is longer than the time between two frames on a
 * busy machine.
 */
const SPEED_OF_LATE_FRAMES = 10;

const lateStates: readonly FaultRow[] = [
  {
    name: 'stats frames with the previous state at the time of a new status',
    scene: { speed: SPEED_OF_LATE_FRAMES },
    arrange: async (scene) => {
      scene.panel.failSockets({ kind: 'late-stats', server: TARGET });
      scene.panel.power(TARGET, 'restart');
      await scene.watch.until((scraped) => expect(starts(scraped)).toBe(1), MINUTE_MS);
      scene.panel.power(TARGET, 'stop');
      await untilState(scene, 'offline');
      await waitFor(scene, SETTLES_MS);
      scene.panel.power(TARGET, 'start');
    },
    during: STREAMING,
    lift: clearFaults,
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => expectCounted(scene, { starts: 2, requested: 2 }),
  },
];

/** Starts and stops that never end. */
const stuck: readonly FaultRow[] = [
  {
    name: 'a start whose end the node never notices',
    scene: { panel: { startMs: 24 * 60 * MINUTE_MS } },
    arrange: async (scene) => {
      scene.panel.power(TARGET, 'stop');
      await untilState(scene, 'offline');
      scene.panel.power(TARGET, 'start');
      await untilState(scene, 'starting');
      await waitFor(scene, 14 * MINUTE_MS);
    },
    during: { ...STREAMING, state: 'starting' },
    cause: 'still_starting',
    isOfOpenSocket: true,
    page: /starting for \d+ min/,
    lift: ({ panel }) => panel.power(TARGET, 'kill'),
    after: { ...STREAMING, state: 'offline' },
    recoveryMs: AT_ONCE_MS,
  },
  {
    name: 'a server that does not stop',
    scene: { panel: { stopMs: 24 * 60 * MINUTE_MS } },
    arrange: async (scene) => {
      scene.panel.power(TARGET, 'stop');
      await untilState(scene, 'stopping');
      await waitFor(scene, 4 * MINUTE_MS);
    },
    during: { ...STREAMING, state: 'stopping' },
    cause: 'still_stopping',
    isOfOpenSocket: true,
    page: /stopping for \d+ min/,
    lift: ({ panel }) => panel.power(TARGET, 'kill'),
    after: { ...STREAMING, state: 'offline' },
    recoveryMs: AT_ONCE_MS,
  },
];

function frozenStatistics(): FaultRow {
  let startedAt: number | undefined;
  return {
    name: 'frozen statistics of the node: the same numbers again and again',
    arrange: async (scene) => {
      await scene.watch.until((scraped) => {
        startedAt = valueOf(scraped, 'gameserver_start_time_seconds');
        expect(startedAt).toBeDefined();
      }, MINUTE_MS);
      scene.panel.failSockets({ kind: 'frozen-stats', server: TARGET });
      // After the second request for stats.
      await scene.watch.until((scraped) => expect(pictureOf(scraped).up).toBe(0), 3 * SILENCE_MS);
    },
    during: { ...DARK, condition: 'streaming', streaming: 1 },
    lift: clearFaults,
    recoveryMs: AT_ONCE_MS,
    afterwards: async (scene) => {
      await scene.watch.until((scraped) => {
        expect(valueOf(scraped, 'gameserver_start_time_seconds')).toBe(startedAt);
      }, MINUTE_MS);
      expect(socketsOpened(scene)).toBe(1);
      await expectCounted(scene, { starts: 0 });
    },
  };
}

/**
 * The time since the connection after which two more tokens may be requested within a minute. The
 * first renewal is a minute after the connection.
 */
const SETTLED_MS = 130_000;

/** The duration of a call for a token. The server stops during it. */
const SLOW_TOKEN_MS = 5_000;

const DENYLISTED = 'jwt: created too far in past (denylist)';

/** The prefix of a daemon's messages in response to a frame. */
const ANSWERED = `Error Event [0f4b5d2c-0000-4000-8000-000000000000]: ${DENYLISTED}`;

/**
 * The maximum time until the token is renewed after a daemon's late rejection, on the accelerated
 * clock. Only the next token and its call take time.
 */
const RENEWED_WITHIN_MS = 10_000;

function tokenOfTheSameSecond(): FaultRow {
  let revokedAt = 0;
  return {
    name: 'a token that was renewed in the same second as the node revoked the previous one',
    arrange: async (scene) => {
      await waitFor(scene, SETTLED_MS);
      const { panel, clock } = scene;
      panel.failSockets({ kind: 'jwt-error-on-auth', server: TARGET, text: ANSWERED, times: 1 });
      panel.sockets({ kind: 'expire', server: TARGET });
      revokedAt = clock.toUnixMs(clock.now());
    },
    during: STREAMING,
    shows: (scraped, scene) => {
      // One for the connection, one for the first renewal, and two in this row.
      expect(tokenCalls(scene)).toHaveLength(4);
      const sampledAt = valueOf(scraped, 'gameserver_last_sample_timestamp_seconds') ?? 0;
      expect(sampledAt * 1_000).toBeGreaterThan(revokedAt + 1_000);
    },
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => {
      const renewed = tokenCalls(scene).at(-1);
      const revoked = revokedAt - scene.clock.toUnixMs(0);
      expect((renewed?.at ?? Number.NaN) - revoked).toBeLessThan(RENEWED_WITHIN_MS);
      expect(socketsOpened(scene)).toBe(1);
    },
  };
}

const tokens: readonly FaultRow[] = [
  {
    name: "a stop that the node doesn't report, because the token had expired",
    arrange: async (scene) => {
      await waitFor(scene, SETTLED_MS);
      const { panel } = scene;
      panel.failRest({ kind: 'delay', endpoint: 'websocket', server: TARGET, ms: SLOW_TOKEN_MS });
      panel.sockets({ kind: 'expire', server: TARGET });
      panel.power(TARGET, 'stop');
      await untilTrue(scene, 'offline');
    },
    during: { ...STREAMING, state: 'offline' },
    lift: clearFaults,
    after: { ...STREAMING, state: 'offline' },
    recoveryMs: AT_ONCE_MS,
    afterwards: async (scene) => {
      await expectCounted(scene, { starts: 0, unknown: 1 });
      expect(socketsOpened(scene)).toBe(1);
    },
  },
  tokenOfTheSameSecond(),
];

/** A server that is only in the server list. */
const EXTRA = 'extra';

const DISCOVER = ['discover: { interval: 1m }'];

const isThere = (scraped: Scraped, server = EXTRA) =>
  valueOf(scraped, 'gameserver_collection_up', server) !== undefined;

async function addExtra({ panel, watch }: Scene): Promise<void> {
  panel.addServer({ name: EXTRA });
  await watch.until(
    (scraped) => expect(valueOf(scraped, 'gameserver_collection_up', EXTRA)).toBe(1),
    3 * MINUTE_MS,
  );
}

/** The server list without the extra server, but with an entry without an identity. */
async function invalidListing({ panel }: Scene): Promise<string> {
  const headers = { authorization: `Bearer ${panel.apiKey}`, accept: 'application/json' };
  const answer = await fetch(`${panel.url}/api/client?page=1&per_page=100`, { headers });
  const listing = (await answer.json()) as { data: { attributes: { name: string } }[] };
  const others = listing.data.filter(({ attributes }) => attributes.name !== EXTRA);
  return JSON.stringify({
    ...listing,
    data: [...others, { object: 'server', attributes: { name: 'nameless' } }],
  });
}

const failures = (scraped: Scraped) =>
  scraped.value('gameserver_exporter_discovery_failures_total', { panel: 'main' }) ?? 0;

function deletedServer(): FaultRow {
  let deletedAt = 0;
  return {
    name: 'a deleted server, detected by one reading of the server list and its own 404',
    scene: { settings: DISCOVER },
    arrange: async (scene) => {
      await addExtra(scene);
      scene.panel.deleteServer(EXTRA);
      deletedAt = scene.clock.now();
    },
    during: STREAMING,
    shows: (scraped, { clock }) => {
      expect(isThere(scraped)).toBe(false);
      // After the next reading of the server list, not after two more.
      expect(clock.now() - deletedAt).toBeLessThan(1.5 * MINUTE_MS);
    },
    recoveryMs: AT_ONCE_MS,
  };
}

const listings: readonly FaultRow[] = [
  {
    name: 'a server list with an invalid entry and without a known server',
    scene: { settings: DISCOVER },
    arrange: async (scene) => {
      await addExtra(scene);
      scene.panel.failRest({ kind: 'garbage', endpoint: 'listing', body: await invalidListing(scene) });
      await scene.watch.until((scraped) => {
        expect(failures(scraped)).toBe(1);
        expect(isThere(scraped)).toBe(true);
      }, 2 * MINUTE_MS);
    },
    during: STREAMING,
    shows: (scraped) => {
      expect(isThere(scraped)).toBe(false);
      expect(failures(scraped)).toBeGreaterThanOrEqual(3);
      for (const server of NEIGHBORS) expect(isThere(scraped, server)).toBe(true);
    },
    log: /server list has unreadable entries/,
    lift: clearFaults,
    recoveryMs: AT_ONCE_MS,
    afterwards: async ({ watch }) => {
      await watch.until((scraped) => expect(isThere(scraped)).toBe(true), 2 * MINUTE_MS);
    },
  },
  deletedServer(),
];

/** Reloads the configuration with another id of the target server. */
async function rename({ exporter }: Scene, from: string, to: string): Promise<void> {
  const yaml = await readFile(join(exporter.folder, 'config.yaml'), 'utf8');
  expect(yaml).toContain(`"${from}"`);
  expect(await exporter.reload(yaml.replace(`"${from}"`, `"${to}"`))).toMatchObject({ ok: true });
}

const SHORT_ID = TARGET_UUID.slice(0, 8);

const ids: readonly FaultRow[] = [
  {
    name: 'a short id that becomes a UUID in a reload, and back',
    arrange: async (scene) => {
      scene.panel.power(TARGET, 'restart');
      await expectCounted(scene, { starts: 1, requested: 1 });
      await rename(scene, SHORT_ID, TARGET_UUID);
    },
    during: STREAMING,
    shows: (scraped) => {
      expect(scraped.value('gameserver_starts_total', { server: TARGET, server_id: SHORT_ID })).toBe(1);
    },
    lift: (scene) => rename(scene, TARGET_UUID, SHORT_ID),
    recoveryMs: AT_ONCE_MS,
    afterwards: async (scene) => {
      await expectCounted(scene, { starts: 1, requested: 1 });
      expect(socketsOpened(scene)).toBe(1);
    },
  },
];

/** Faults that affect the data about a server. */
export const DATA_ROWS: readonly FaultRow[] = [
  ...gaps,
  ...lateStates,
  ...stuck,
  frozenStatistics(),
  ...tokens,
  ...listings,
  ...ids,
];
