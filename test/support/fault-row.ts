// The table of faults: the form of a row, and the test of it.
import { expect } from 'vitest';
import type { CauseCode } from '../../src/domain/problems.ts';
import type { ReconnectReason } from '../../src/domain/telemetry.ts';
import { expectWithinBudget } from './call-budget.ts';
import { eventually } from './eventually.ts';
import { expectStreaming, type Picture, POLLED, pictureOf, STREAMING } from './fault-picture.ts';
import { type Scene, startScene } from './fault-scene.ts';
import { ELSEWHERE, NEIGHBORS, type SceneOptions, type Setting, TARGET } from './fault-stage.ts';
import { pageData } from './page-data.ts';
import type { Scraped } from './scrape-watch.ts';

/** A fault: how it starts, its visible effects, and how it ends. */
export interface FaultRow {
  readonly name: string;
  readonly scene?: SceneOptions;
  /** The servers that it may affect: only the target server, or every server of the panel. */
  readonly scope?: 'server' | 'panel';
  /** Causes the fault before the exporter starts. */
  readonly before?: (setting: Setting) => void | Promise<void>;
  /** Causes the fault while all servers stream. */
  readonly arrange?: (scene: Scene) => void | Promise<void>;
  readonly during: Partial<Picture>;
  /** Further assertions about `/metrics` during the fault. */
  readonly shows?: (scraped: Scraped, scene: Scene) => void;
  /**
   * The expected problem of the affected server or of the panel. If the panel is down, only of the
   * panel.
   */
  readonly cause?: CauseCode;
  /**
   * The expected cause of single calls, which doctor reports if it ends before the node is blamed.
   */
  readonly causeOfCall?: CauseCode;
  /** The reconnect reason that must be counted at least once. */
  readonly reconnects?: ReconnectReason;
  /** An expected log line. */
  readonly log?: RegExp;
  /**
   * The fault affects only sockets that are already open, so an exporter that starts later doesn't
   * see it.
   */
  readonly isOfOpenSocket?: true;
  /**
   * An expected text on the status page, which shows the latest problem, while the log reports only
   * its start.
   */
  readonly page?: RegExp;
  /** Ends the fault, unless it ends by itself. */
  readonly lift?: (scene: Scene) => void | Promise<void>;
  readonly after?: Partial<Picture>;
  /**
   * The maximum recovery time according to the exporter's constants, in milliseconds of the tests'
   * clock.
   */
  readonly recoveryMs: number;
  /** Releases resources that aren't part of the scene, even if the row failed. */
  readonly clean?: () => void | Promise<void>;
  /** Further assertions after the recovery. */
  readonly afterwards?: (scene: Scene) => void | Promise<void>;
}

/** The maximum age of a sample, in milliseconds, if frames arrive every second. */
const MAX_GAP_MS = 2_000;

/**
 * The maximum time until the fault is visible: staleness, the fallback to polling, and a poll that
 * hangs.
 */
const SHOWS_WITHIN_MS = 150_000;

/** Time for real HTTP and sockets, in milliseconds of the accelerated clock. */
const WAY_MS = 8_000;

/** The time after which all code has been warmed up, on the tests' clock. */
const WARM_MS = 20_000;

const MINUTE_MS = 60_000;

/**
 * Matches keys and tokens: the first characters of the simulated panels' keys, and of every JWT.
 */
const SECRET = /(?:ptlc|c7sp)_\w|eyJ/;

/** Plays a fault from start to end. All servers stream before and after it. */
export async function expectRow(row: FaultRow): Promise<void> {
  await warmUp();
  const scene = await startScene(row.scene ?? {}, row.before);
  try {
    await expectFault(row, scene);
    await expectRecovery(row, scene);
    expectOthersWentOn(scene, othersOf(row));
    expectWithinBudget(scene);
    expect(JSON.stringify(scene.exporter.lines)).not.toMatch(SECRET);
  } finally {
    try {
      await scene.end();
    } finally {
      await row.clean?.();
    }
  }
}

let warm: Promise<void> | undefined;

/**
 * Plays a scene without faults once, because code that runs for the first time is so slow that it
 * looks like a gap.
 */
export function warmUp(): Promise<void> {
  return (warm ??= playWithoutFaults());
}

async function playWithoutFaults(): Promise<void> {
  const scene = await startScene({});
  await scene.watch.until(
    (scraped) => expectStreaming(scraped, [TARGET, ...NEIGHBORS, ELSEWHERE]),
    MINUTE_MS,
  );
  await scene.watch.until(() => expect(scene.clock.now()).toBeGreaterThan(WARM_MS), MINUTE_MS);
  await scene.end();
}

/** The same fault for every server of the panel. */
export const ofPanel = (row: FaultRow): FaultRow => ({ ...row, scope: 'panel' });

/** The same fault with simulated networks. */
export const withNetworks = (row: FaultRow): FaultRow => ({
  ...row,
  scene: { ...row.scene, networks: true },
});

const othersOf = ({ scope = 'server' }: FaultRow) =>
  scope === 'server' ? [...NEIGHBORS, ELSEWHERE] : [ELSEWHERE];

/** Causes the fault, and asserts that it becomes visible. */
export async function expectFault(row: FaultRow, scene: Scene): Promise<void> {
  const { watch, exporter } = scene;
  await watch.until((scraped) => expectStreaming(scraped, othersOf(row)), MINUTE_MS);
  watch.observe(othersOf(row));
  if (row.before === undefined || row.arrange !== undefined) {
    const polls = row.scene?.mode === 'poll';
    await watch.until((scraped) => expect(pictureOf(scraped)).toEqual(polls ? POLLED : STREAMING), MINUTE_MS);
    if (row.scope === 'panel') await watch.until((scraped) => expectStreaming(scraped, NEIGHBORS), MINUTE_MS);
  }
  await row.arrange?.(scene);
  await watch.until((scraped) => {
    expect(pictureOf(scraped)).toMatchObject(row.during);
    row.shows?.(scraped, scene);
    if (row.cause !== undefined) expect(causesOf(row, scene)).toContain(row.cause);
    if (row.reconnects !== undefined) {
      const labels = { panel: 'main', reason: row.reconnects };
      expect(scraped.value('gameserver_exporter_reconnects_total', labels)).toBeGreaterThanOrEqual(1);
    }
  }, SHOWS_WITHIN_MS);
  const shown = await eventually(async () => {
    const page = await pageData(exporter.url);
    if (row.page !== undefined) expect(page).toMatch(row.page);
    return page;
  });
  expect(shown + (await exporter.scrape())).not.toMatch(SECRET);
  if (row.log !== undefined) {
    const texts = exporter.lines.map((line) => JSON.stringify([line.message, line.fields]));
    expect(texts.join('\n')).toMatch(row.log);
  }
}

function causesOf({ during }: FaultRow, { exporter, clock }: Scene): readonly (CauseCode | undefined)[] {
  const { fleet } = exporter;
  const [panel] = fleet.panels();
  const server = fleet.servers().find(({ target }) => target.name === TARGET);
  const ofPanel = panel?.problems ?? [];
  const problems =
    during.panelUp === 0 ? ofPanel : [...ofPanel, server?.snapshot(clock.now(), clock).problem];
  return problems.map((problem) => problem?.cause);
}

async function expectRecovery(row: FaultRow, scene: Scene): Promise<void> {
  const { watch } = scene;
  await row.lift?.(scene);
  const tookMs = await watch.until(
    (scraped) => expect(pictureOf(scraped)).toMatchObject(row.after ?? STREAMING),
    row.recoveryMs + WAY_MS,
  );
  expect(tookMs).toBeLessThanOrEqual(row.recoveryMs + WAY_MS);
  await row.afterwards?.(scene);
}

/** Asserts that the other servers kept their sockets and received samples all the time. */
function expectOthersWentOn({ watch, panel, elsewhere }: Scene, others: readonly string[]): void {
  for (const [server, oldestMs] of Object.entries(watch.oldest)) {
    expect(oldestMs, `the greatest age of a sample of ${server}`).toBeLessThanOrEqual(MAX_GAP_MS);
  }
  for (const name of others) {
    const home = name === ELSEWHERE ? elsewhere : panel;
    expect(home.record.sockets(home.server(name).uuid), name).toMatchObject({ open: 1, opened: 1 });
  }
}
