import { expect } from 'vitest';
import type { BlockedReason } from '../../src/domain/server.ts';
import type { ServerState } from '../../src/domain/state.ts';
import type { ReconnectReason } from '../../src/domain/telemetry.ts';
import { SLOW_RETRY_MS } from '../../src/session/backoff.ts';
import type { CallRecord } from '../../src/simulator/recorder.ts';
import {
  ELSEWHERE,
  NEIGHBOURS,
  type Scene,
  type SceneOptions,
  STRUCK,
  startScene,
} from './fault-scene.ts';
import type { Scraped } from './scrape-watch.ts';

/** What `/metrics` says of the struck server and its panel. */
export interface Picture {
  readonly up: 0 | 1;
  readonly streaming: 0 | 1;
  readonly state: ServerState;
  readonly blocked: BlockedReason | 'no';
  /** Are there gauges of what it uses? */
  readonly gauges: boolean;
  readonly panelUp: 0 | 1;
}

export const STREAMING: Picture = {
  up: 1,
  streaming: 1,
  state: 'running',
  blocked: 'no',
  gauges: true,
  panelUp: 1,
};

/** Observed by the resources endpoint. */
export const POLLED: Picture = { ...STREAMING, streaming: 0 };

/** Nothing fresh is known; what was known has left. */
export const DARK: Picture = { ...POLLED, up: 0, state: 'unknown', gauges: false };

/** Nothing fresh is known, for a reason that only a person lifts. */
export const blocked = (reason: BlockedReason): Picture => ({ ...DARK, blocked: reason });

/** One fault: how it comes about, what is to be seen of it, and how it ends. */
export interface FaultRow {
  readonly name: string;
  readonly scene?: SceneOptions;
  /** Whom it may befall beside the struck server: nobody, or every server of the panel. */
  readonly scope?: 'server' | 'panel';
  /** Brings the fault about before the exporter starts. */
  readonly before?: (scene: Pick<Scene, 'time' | 'panel' | 'networks'>) => void | Promise<void>;
  /** Brings it about while everything streams. */
  readonly arrange?: (scene: Scene) => void | Promise<void>;
  readonly during: Picture;
  /** More that `/metrics` says during the fault; throws where it doesn't. */
  readonly shows?: (scraped: Scraped, scene: Scene) => void;
  /** Counted at least once. */
  readonly reconnects?: ReconnectReason;
  /** One line of the log says so. */
  readonly log?: RegExp;
  /** Ends it, unless it ended by itself. */
  readonly lift?: (scene: Scene) => void | Promise<void>;
  readonly after?: Picture;
  /** How long the recovery may take by the exporter's own constants, in milliseconds of the tests' clock. */
  readonly recoveryMs: number;
  /** The struck server's console must not be asked for more than this often. */
  readonly then?: (scene: Scene) => void | Promise<void>;
}

/** Of two frames a second apart, the older may be this old. */
const LONGEST_GAP_MS = 2_000;

/** The fault must show within this: the staleness, the fallback to polling, and a poll that hangs. */
const SHOWS_WITHIN_MS = 150_000;

/** What real HTTP and sockets take, as it looks on a clock that runs fast. */
const WAY_MS = 8_000;

/** Waits of minutes are made to pass faster yet. */
const HURRIED = 150;

const MINUTE_MS = 60_000;

/** At most two tokens a minute are asked for a server. */
const TOKENS_PER_MINUTE = 2;

/** No key, no token: what the simulated panel's keys and every JWT begin with. */
const SECRET = /ptlc_|eyJ/;

/** Plays a fault through, from a fleet that streams to one that streams again. */
export async function expectRow(row: FaultRow): Promise<void> {
  const scene = await startScene(row.scene ?? {}, row.before);
  try {
    await expectFault(row, scene);
    await expectRecovery(row, scene);
    expectOthersWentOn(scene, othersOf(row));
    expectWithinBudget(scene);
    expect(JSON.stringify(scene.exporter.lines)).not.toMatch(SECRET);
  } finally {
    await scene.end();
  }
}

const othersOf = ({ scope = 'server' }: FaultRow) =>
  scope === 'server' ? [...NEIGHBOURS, ELSEWHERE] : [ELSEWHERE];

async function expectFault(row: FaultRow, scene: Scene): Promise<void> {
  const { watch, exporter } = scene;
  await watch.until((scraped) => expectStreaming(scraped, othersOf(row)), MINUTE_MS);
  watch.observe(othersOf(row));
  if (row.before === undefined) {
    const polls = row.scene?.mode === 'poll';
    await watch.until(
      (scraped) => expect(pictureOf(scraped)).toEqual(polls ? POLLED : STREAMING),
      MINUTE_MS,
    );
    if (row.scope === 'panel') await watch.until((scraped) => expectStreaming(scraped, NEIGHBOURS), MINUTE_MS);
  }
  await row.arrange?.(scene);
  await watch.until((scraped) => {
    expect(pictureOf(scraped)).toEqual(row.during);
    row.shows?.(scraped, scene);
    if (row.reconnects !== undefined) {
      const labels = { panel: 'main', reason: row.reconnects };
      expect(scraped.value('gameserver_exporter_reconnects_total', labels)).toBeGreaterThanOrEqual(1);
    }
  }, SHOWS_WITHIN_MS);
  if (row.log !== undefined) {
    const texts = exporter.lines.map((line) => JSON.stringify([line.message, line.fields]));
    expect(texts).toContainEqual(expect.stringMatching(row.log));
  }
}

async function expectRecovery(row: FaultRow, scene: Scene): Promise<void> {
  const { watch, time } = scene;
  await row.lift?.(scene);
  if (row.recoveryMs >= SLOW_RETRY_MS) time.speed = HURRIED;
  const tookMs = await watch.until(
    (scraped) => expect(pictureOf(scraped)).toEqual(row.after ?? STREAMING),
    row.recoveryMs + WAY_MS,
  );
  expect(tookMs).toBeLessThanOrEqual(row.recoveryMs + WAY_MS);
  await row.then?.(scene);
}

/** What a scrape says of the struck server. */
export function pictureOf(scraped: Scraped): Picture {
  const server = { server: STRUCK };
  const one = (name: string) => scraped.value(name, server) as 0 | 1;
  const state = scraped.series('gameserver_state', server).find(({ value }) => value === 1);
  const [reason] = scraped.series('gameserver_blocked', server);
  return {
    up: one('gameserver_collection_up'),
    streaming: one('gameserver_collection_streaming'),
    state: state?.labels['state'] as ServerState,
    blocked: (reason?.labels['reason'] ?? 'no') as BlockedReason | 'no',
    gauges: one('gameserver_memory_usage_bytes') !== undefined,
    panelUp: scraped.value('gameserver_panel_up', { panel: 'main' }) as 0 | 1,
  };
}

function expectStreaming(scraped: Scraped, servers: readonly string[]): void {
  for (const server of servers) {
    expect(scraped.value('gameserver_collection_streaming', { server }), server).toBe(1);
    expect(scraped.value('gameserver_collection_up', { server }), server).toBe(1);
  }
}

/** The other servers kept the sockets that they had, and their samples came all the while. */
function expectOthersWentOn({ watch, panel, elsewhere }: Scene, others: readonly string[]): void {
  for (const [server, oldestMs] of Object.entries(watch.oldest)) {
    expect(oldestMs, `the greatest age of a sample of ${server}`).toBeLessThanOrEqual(LONGEST_GAP_MS);
  }
  for (const name of others) {
    const home = name === ELSEWHERE ? elsewhere : panel;
    expect(home.record.sockets(home.server(name).uuid), name).toMatchObject({ open: 1, opened: 1 });
  }
}

/** The panel never saw more calls than the exporter allows itself, over all and for each server. */
export function expectWithinBudget({ panel, elsewhere }: Pick<Scene, 'panel' | 'elsewhere'>, limit = 60): void {
  const { calls, counters } = panel.record;
  expect(mostInMinute(calls), 'calls in one minute').toBeLessThanOrEqual(limit);
  for (const { uuid, name } of panel.servers) {
    const own = calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === uuid);
    expect(mostInMinute(own), `tokens of ${name} in one minute`).toBeLessThanOrEqual(TOKENS_PER_MINUTE);
  }
  expect(counters).toMatchObject({ panelLimited: 0, websocketLimited: 0, wouldHaveCrashed: 0 });
  expect(elsewhere.record.counters).toMatchObject({ panelLimited: 0, websocketLimited: 0 });
}

function mostInMinute(calls: readonly CallRecord[]): number {
  let most = 0;
  let first = 0;
  calls.forEach(({ at }, index) => {
    while ((calls[first]?.at ?? at) <= at - MINUTE_MS) first += 1;
    most = Math.max(most, index - first + 1);
  });
  return most;
}
