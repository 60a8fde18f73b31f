import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NO_STOPS, type StopCounts } from '../../../src/domain/reading.ts';
import { SILENCE_MS } from '../../../src/session/machine-model.ts';
import { DARK, pictureOf, STREAMING } from '../../support/fault-picture.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import type { Scene } from '../../support/fault-scene.ts';
import { NEIGHBOURS, STRUCK, STRUCK_UUID } from '../../support/fault-stage.ts';
import type { Scraped } from '../../support/scrape-watch.ts';
import { AT_ONCE_MS, TOKENS_MS } from './bounds.ts';

const MINUTE_MS = 60_000;

/** A daemon's late words, and a stop whose reason is decided ten seconds after it, are over by then. */
const SETTLES_MS = 12_000;

const valueOf = (scraped: Scraped, name: string, server = STRUCK) => scraped.value(name, { server });

/** What was counted of the struck server, once nothing more is to come. */
async function expectCounted(
  scene: Scene,
  { starts, ...stops }: { starts: number } & Partial<StopCounts>,
): Promise<void> {
  await waitFor(scene, SETTLES_MS);
  await scene.watch.until((scraped) => {
    expect(valueOf(scraped, 'gameserver_starts_total')).toBe(starts);
    const counted = scraped.series('gameserver_stops_total', { server: STRUCK });
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

/** Waits until the exporter shows this state of the struck server. */
const untilState = (scene: Scene, state: string) =>
  scene.watch.until((scraped) => expect(pictureOf(scraped).state).toBe(state), MINUTE_MS);

/** Waits until the simulated panel has the struck server in this state, whether the exporter sees it or not. */
const untilTrue = (scene: Scene, state: string) =>
  scene.watch.until(() => expect(scene.panel.server(STRUCK).state).toBe(state), MINUTE_MS);

function loseSockets({ panel }: Scene): void {
  panel.failSockets({ kind: 'drop-upgrade', server: STRUCK });
  panel.sockets({ kind: 'drop', server: STRUCK });
}

const clearFaults = ({ panel }: Scene) => panel.clearFaults();
const socketsOpened = ({ panel }: Scene) => panel.record.sockets(STRUCK_UUID).opened;
const tokenCalls = ({ panel }: Scene) =>
  panel.record.calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === STRUCK_UUID);

/** What happens while no socket is open, and no poll sees it. */
const gaps: readonly FaultRow[] = [
  {
    name: 'a start in a socket gap of a server that was off',
    scene: { mode: 'socket' },
    arrange: async (scene) => {
      scene.panel.power(STRUCK, 'stop');
      await untilState(scene, 'offline');
      loseSockets(scene);
      scene.panel.power(STRUCK, 'start');
      await untilTrue(scene, 'running');
    },
    during: { condition: 'failing', streaming: 0 },
    lift: clearFaults,
    recoveryMs: TOKENS_MS,
    afterwards: (scene) => expectCounted(scene, { starts: 1, requested: 1 }),
  },
  {
    name: 'a restart in a socket gap, of a run that was shorter than the next',
    scene: { mode: 'socket' },
    arrange: async (scene) => {
      scene.panel.power(STRUCK, 'restart');
      await expectCounted(scene, { starts: 1, requested: 1 });
      loseSockets(scene);
      scene.panel.power(STRUCK, 'restart');
      await untilTrue(scene, 'running');
      await waitFor(scene, MINUTE_MS);
    },
    during: { condition: 'failing', streaming: 0 },
    lift: clearFaults,
    recoveryMs: TOKENS_MS,
    // Nobody saw how the second run ended.
    afterwards: (scene) => expectCounted(scene, { starts: 2, requested: 1, unknown: 1 }),
  },
];

const starts = (scraped: Scraped) => valueOf(scraped, 'gameserver_starts_total');

/** So slow that the two seconds in which a status holds are longer than what a busy machine takes between two frames. */
const SPEED_OF_LATE_FRAMES = 10;

const lateStates: readonly FaultRow[] = [
  {
    name: 'stats frames with the state before, in the same instant as a status',
    scene: { speed: SPEED_OF_LATE_FRAMES },
    arrange: async (scene) => {
      scene.panel.failSockets({ kind: 'late-stats', server: STRUCK });
      scene.panel.power(STRUCK, 'restart');
      await scene.watch.until((scraped) => expect(starts(scraped)).toBe(1), MINUTE_MS);
      scene.panel.power(STRUCK, 'stop');
      await untilState(scene, 'offline');
      await waitFor(scene, SETTLES_MS);
      scene.panel.power(STRUCK, 'start');
    },
    during: STREAMING,
    lift: clearFaults,
    recoveryMs: AT_ONCE_MS,
    afterwards: (scene) => expectCounted(scene, { starts: 2, requested: 2 }),
  },
];

function frozenStatistics(): FaultRow {
  let startedAt: number | undefined;
  return {
    name: 'statistics that died on the node: the same numbers again and again',
    arrange: async (scene) => {
      await scene.watch.until((scraped) => {
        startedAt = valueOf(scraped, 'gameserver_start_time_seconds');
        expect(startedAt).toBeDefined();
      }, MINUTE_MS);
      scene.panel.failSockets({ kind: 'frozen-stats', server: STRUCK });
      // By the second answer to a request for stats.
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

/** Long enough after the connect that two more tokens may be asked for within a minute. */
const SETTLED_MS = 70_000;

/** A call for a token takes so long that the server stops meanwhile. */
const SLOW_TOKEN_MS = 5_000;

const DENYLISTED = 'jwt: created too far in past (denylist)';

/** What a daemon puts before its words where they answer a message. */
const ANSWERED = `Error Event [0f4b5d2c-0000-4000-8000-000000000000]: ${DENYLISTED}`;

/** A daemon's late refusal costs no more: the next token, and what calls take on a clock that runs fast. */
const RENEWED_WITHIN_MS = 10_000;

function tokenOfTheSameSecond(): FaultRow {
  let revokedAt = 0;
  return {
    name: 'a token that was renewed in the second in which the node revoked the one before',
    arrange: async (scene) => {
      await waitFor(scene, SETTLED_MS);
      const { panel, clock } = scene;
      panel.failSockets({ kind: 'jwt-error-on-auth', server: STRUCK, text: ANSWERED, times: 1 });
      panel.sockets({ kind: 'expire', server: STRUCK });
      revokedAt = clock.toUnixMs(clock.now());
    },
    during: STREAMING,
    shows: (scraped, scene) => {
      expect(tokenCalls(scene)).toHaveLength(3);
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
    name: 'a stop that the node withholds, since the token ended',
    arrange: async (scene) => {
      await waitFor(scene, SETTLED_MS);
      const { panel } = scene;
      panel.failRest({ kind: 'delay', endpoint: 'websocket', server: STRUCK, ms: SLOW_TOKEN_MS });
      panel.sockets({ kind: 'expire', server: STRUCK });
      panel.power(STRUCK, 'stop');
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

/** A server that only the listing names. */
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

/** The listing without the extra server, and with an entry that names none. */
async function spoiltListing({ panel }: Scene): Promise<string> {
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
    name: 'a server that is deleted: one walk and its own 404 tell',
    scene: { settings: DISCOVER },
    arrange: async (scene) => {
      await addExtra(scene);
      scene.panel.deleteServer(EXTRA);
      deletedAt = scene.clock.now();
    },
    during: STREAMING,
    shows: (scraped, { clock }) => {
      expect(isThere(scraped)).toBe(false);
      // The walk that is next, not two more.
      expect(clock.now() - deletedAt).toBeLessThan(1.5 * MINUTE_MS);
    },
    recoveryMs: AT_ONCE_MS,
  };
}

const listings: readonly FaultRow[] = [
  {
    name: 'a listing with an entry that names no server, and without one that it had',
    scene: { settings: DISCOVER },
    arrange: async (scene) => {
      await addExtra(scene);
      scene.panel.failRest({ kind: 'garbage', endpoint: 'listing', body: await spoiltListing(scene) });
      await scene.watch.until((scraped) => {
        expect(failures(scraped)).toBe(1);
        expect(isThere(scraped)).toBe(true);
      }, 2 * MINUTE_MS);
    },
    during: STREAMING,
    shows: (scraped) => {
      expect(isThere(scraped)).toBe(false);
      expect(failures(scraped)).toBeGreaterThanOrEqual(3);
      for (const server of NEIGHBOURS) expect(isThere(scraped, server)).toBe(true);
    },
    log: /the listing has entries that can't be read/,
    lift: clearFaults,
    recoveryMs: AT_ONCE_MS,
    afterwards: async ({ watch }) => {
      await watch.until((scraped) => expect(isThere(scraped)).toBe(true), 2 * MINUTE_MS);
    },
  },
  deletedServer(),
];

/** Reloads the configuration with the struck server's other id. */
async function rename({ exporter }: Scene, from: string, to: string): Promise<void> {
  const yaml = await readFile(join(exporter.folder, 'config.yaml'), 'utf8');
  expect(yaml).toContain(`"${from}"`);
  expect(await exporter.reload(yaml.replace(`"${from}"`, `"${to}"`))).toMatchObject({ ok: true });
}

const SHORT_ID = STRUCK_UUID.slice(0, 8);

const ids: readonly FaultRow[] = [
  {
    name: 'a short id that becomes a UUID at a reload, and back',
    arrange: async (scene) => {
      scene.panel.power(STRUCK, 'restart');
      await expectCounted(scene, { starts: 1, requested: 1 });
      await rename(scene, SHORT_ID, STRUCK_UUID);
    },
    during: STREAMING,
    shows: (scraped) => {
      expect(scraped.value('gameserver_starts_total', { server: STRUCK, server_id: SHORT_ID })).toBe(1);
    },
    lift: (scene) => rename(scene, STRUCK_UUID, SHORT_ID),
    recoveryMs: AT_ONCE_MS,
    afterwards: async (scene) => {
      await expectCounted(scene, { starts: 1, requested: 1 });
      expect(socketsOpened(scene)).toBe(1);
    },
  },
];

/** What the data says when the way that it comes is in trouble. */
export const DATA_ROWS: readonly FaultRow[] = [
  ...gaps,
  ...lateStates,
  frozenStatistics(),
  ...tokens,
  ...listings,
  ...ids,
];
