// Compares the ledger's outages with those of the oracle, which examines all cells, in random
// fleets.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { callSigns, NO_SIGNS, socketSigns } from '../../../src/diagnosis/signs.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { Outage } from '../../../src/panel/health/blame.ts';
import * as steps from '../../../src/panel/health/blame.ts';
import type { AskedServers, Outcome } from '../../../src/panel/health/outcome.ts';
import {
  CHANNELS,
  type Channel,
  NO_SERVER,
  PATHS,
  type Subject,
  subjectChannel,
  subjectNode,
} from '../../../src/panel/subjects.ts';
import {
  type BlameState,
  blame,
  blamedIfTrialFailed,
  type Cell,
  NO_OUTAGES,
  panelWorks,
  withCheck,
  withTrial,
  workedAt,
} from '../../support/blame-oracle.ts';
import { fuzzRuns } from '../../support/fuzz.ts';
import { ServersLedger } from '../../support/panel-outcomes.ts';

const NODES = 6;
const SERVERS = 40;

/** The outcome of one server on one channel. */
interface Told {
  readonly what: CauseCode | 'works' | 'ends';
  readonly fromPanel: boolean;
  /** The duration of the call. */
  readonly tookMs: number;
}

type Step = { readonly waitMs: number; readonly judges: boolean } & (
  | { readonly does: 'outcome'; readonly channel: Channel; readonly server: number; readonly told: Told }
  /**
   * The same outcome for many servers in a row: those of one node, those without a known node, or
   * all.
   */
  | {
      readonly does: 'storm';
      readonly channel: Channel;
      readonly node: number | 'any' | undefined;
      readonly most: number;
      readonly told: Told;
      /** The outcome of every second server, if it differs. */
      readonly second: Told | undefined;
    }
  | {
      readonly does: 'trial' | 'trial failed' | 'trial showed nothing';
      readonly outage: number;
      readonly server: number;
    }
  | { readonly does: 'check' }
  | { readonly does: 'use'; readonly servers: readonly (Fleet | undefined)[] }
  | {
      readonly does: 'moves';
      readonly server: number;
      readonly node: number | undefined;
      readonly told: Told;
    }
  | { readonly does: 'forget'; readonly channel: Channel; readonly node: number | undefined }
  | { readonly does: 'reset'; readonly channels: readonly Channel[] }
);

/** A server's node, and the paths on which it is asked, as bits. */
interface Fleet {
  readonly node: number | undefined;
  readonly paths: number;
}

const nodeName = (node: number | undefined) => (node === undefined ? undefined : `n${node}`);
const serverName = (server: number) => `s${server}`;

/** The cells and the state of the oracle, and the ledger. */
class World {
  now = 1_000_000;
  state: BlameState = NO_OUTAGES;
  readonly ledger = new ServersLedger();
  readonly cells = Object.fromEntries(CHANNELS.map((channel) => [channel, new Map()])) as Record<
    Channel,
    Map<string, Cell>
  >;
  /** A server's node, which may change. All cells of the server share this object. */
  readonly servers = new Map<string, { node: string | undefined }>();

  setUse(fleet: readonly (Fleet | undefined)[]): void {
    const ofPath = (bit: number) =>
      fleet.flatMap((one, index) => {
        if (one === undefined || (one.paths & (1 << bit)) === 0) return [];
        const id = serverName(index);
        const server = this.servers.get(id) ?? { node: undefined };
        server.node = nodeName(one.node);
        this.servers.set(id, server);
        return [[id, server]] as const;
      });
    const websocket = new Map(ofPath(0));
    const asked: AskedServers = {
      listing: new Map([[NO_SERVER, {}]]),
      websocket,
      resources: new Map(ofPath(1)),
      backups: new Map(ofPath(2)),
      schedules: new Map(ofPath(3)),
      sockets: websocket,
    };
    for (const channel of CHANNELS) {
      const before = this.cells[channel];
      this.cells[channel] = new Map<string, Cell>(
        [...asked[channel]].map(([id, server]) => [id, { asked: server, last: before.get(id)?.last }]),
      );
    }
    this.ledger.servers.setAsked(asked);
  }

  record(channel: Channel, server: string, told: Told): void {
    const last = this.#outcome(channel, told);
    const isDown = this.state.outages.get('panel')?.blamedAt !== undefined;
    if (last.signs.panel === 'works') {
      this.state = panelWorks(this.state, workedAt(last));
      this.ledger.panelWorks(workedAt(last));
    }
    const cell = this.cells[channel].get(server);
    const isExplained = isDown && channel !== 'sockets' && last.problem !== undefined;
    if (cell === undefined || isExplained) return;
    this.cells[channel].set(server, { ...cell, last });
    this.ledger.servers.record(channel, server, last);
  }

  /** Lets both decide, each on the basis of its own earlier decisions. */
  judge(): void {
    this.state = blame(this.cells, this.state, this.now);
    this.ledger.judge(this.now);
  }

  run(step: Step): void {
    this.now += step.waitMs;
    const subjects = [...this.state.outages.keys()];
    const subject = 'outage' in step ? subjects[step.outage % subjects.length] : undefined;
    switch (step.does) {
      case 'outcome':
        return this.record(step.channel, this.#serverOf(step.channel, step.server), step.told);
      case 'moves': {
        const server = this.servers.get(serverName(step.server));
        if (server === undefined) return;
        server.node = nodeName(step.node);
        this.ledger.servers.nodeMayHaveChanged(serverName(step.server));
        return this.record('websocket', serverName(step.server), step.told);
      }
      case 'use':
        return this.setUse(step.servers);
      case 'check':
        // A proof at the same time precedes the check.
        this.now += 1;
        this.state = withCheck(this.state, this.now);
        return this.#change('panel', (outage) => steps.withCheck(outage, this.now));
      case 'trial': {
        if (subject === undefined) return;
        const server = this.#serverOf(subjectChannel(subject), step.server);
        this.state = withTrial(this.state, subject, server, this.now);
        return this.#change(subject, (outage) => outage && steps.withTrial(outage, server, this.now));
      }
      case 'trial failed':
      case 'trial showed nothing': {
        if (subject === undefined) return;
        const hasFailed = step.does === 'trial failed';
        const problem = hasFailed ? { cause: 'timeout' as const, detail: `trial at ${this.now}` } : undefined;
        this.state = blamedIfTrialFailed(this.state, subject, problem, this.now);
        return this.#change(
          subject,
          (outage) => outage && steps.blamedIfTrialFailed(outage, subject, problem, this.now),
        );
      }
      case 'forget':
        for (const [server, { asked, last }] of this.cells[step.channel]) {
          if (asked.node !== nodeName(step.node) || last?.problem === undefined) continue;
          this.cells[step.channel].set(server, { asked, last: undefined });
          this.ledger.servers.record(step.channel, server, undefined);
        }
        return;
      case 'reset': {
        for (const channel of step.channels)
          for (const [server, { asked, last }] of this.cells[channel])
            if (last?.streams !== true) this.cells[channel].set(server, { asked, last: undefined });
        Array.from(this.ledger.servers.forget(new Set(step.channels), this.now));
        const isKept = (one: Subject) => one === 'panel' || !step.channels.includes(subjectChannel(one));
        for (const one of subjects) if (!isKept(one)) this.ledger.setOutage(one, undefined);
        const kept = [...this.state.outages].filter(([one]) => isKept(one));
        this.state = { ...this.state, outages: new Map(kept) };
        return;
      }
      case 'storm':
        throw new Error('storms are run one by one');
    }
  }

  /** The servers of a `storm`. */
  stormed({ channel, node, most }: Extract<Step, { does: 'storm' }>): string[] {
    const isMeant = ({ asked }: Cell) => node === 'any' || asked.node === nodeName(node);
    return [...this.cells[channel]]
      .filter(([, cell]) => isMeant(cell))
      .map(([id]) => id)
      .slice(0, most);
  }

  #serverOf(channel: Channel, server: number): string {
    return channel === 'listing' ? NO_SERVER : serverName(server);
  }

  #change(subject: Subject, by: (outage: Outage | undefined) => Outage | undefined): void {
    this.ledger.setOutage(subject, by(this.ledger.outages.get(subject)));
  }

  #outcome(channel: Channel, { what, fromPanel, tookMs }: Told): Outcome {
    const timed = { startedAt: this.now - tookMs, at: this.now };
    if (what === 'ends') return { ...timed, problem: undefined, signs: NO_SIGNS, streams: false };
    const cause = what === 'works' ? undefined : what;
    const problem = cause && { cause, detail: `${cause} at ${this.now} of ${tookMs}` };
    if (channel === 'sockets')
      return { ...timed, problem, signs: socketSigns(cause), streams: cause === undefined };
    const isProven = Number.isFinite(this.state.provenAt);
    const end = { endpoint: channel, cause, fromPanel: fromPanel || cause === undefined, isProven };
    return { ...timed, problem, signs: callSigns(end) };
  }
}

const ALL_CAUSES = Object.keys(CAUSES) as CauseCode[];

/** Causes of large outages, which are used more often than the others. */
const USUAL: readonly CauseCode[] = [
  'node_connection',
  'node_unreachable',
  'node_silent',
  'panel_error',
  'timeout',
  'no_console_permission',
  'unauthorized',
  'not_found',
  'no_stats',
];

const anyTold: fc.Arbitrary<Told> = fc.record({
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...USUAL) },
    { weight: 1, arbitrary: fc.constantFrom(...ALL_CAUSES) },
    { weight: 4, arbitrary: fc.constant('works' as const) },
    { weight: 1, arbitrary: fc.constant('ends' as const) },
  ),
  fromPanel: fc.boolean(),
  tookMs: fc.constantFrom(0, 1, 100, 20_000, 70_000),
});
const node = fc.option(fc.nat({ max: NODES - 1 }), { nil: undefined, freq: 6 });
const server = fc.nat({ max: SERVERS - 1 });
const channel = fc.constantFrom(...CHANNELS, 'websocket' as const, 'resources' as const);
const fleet = fc
  .tuple(fc.integer({ min: 1, max: NODES }), fc.integer({ min: 1, max: SERVERS }))
  .chain(([nodes, servers]) =>
    fc.array(
      fc.option(
        fc.record({
          node: fc.option(fc.nat({ max: nodes - 1 }), { nil: undefined, freq: 4 }),
          paths: fc.oneof(fc.constant(3), fc.nat({ max: 15 })),
        }),
        { nil: undefined, freq: 12 },
      ),
      { minLength: servers, maxLength: servers },
    ),
  );
const when = {
  waitMs: fc.oneof(fc.constantFrom(0, 0, 0, 1, 50), fc.constantFrom(5_000, 16_000, 61_000, 120_000, 121_000)),
  judges: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
};
const does = <const Name extends string>(name: Name) => ({ does: fc.constant(name), ...when });
const outage = fc.nat({ max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ ...does('outcome'), channel, server, told: anyTold }) },
  {
    weight: 6,
    arbitrary: fc.record({
      ...does('storm'),
      channel,
      node: fc.oneof(node, fc.constant('any' as const)),
      most: fc.constantFrom(2, 3, 5, SERVERS),
      told: anyTold,
      second: fc.option(anyTold, { nil: undefined, freq: 1 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ ...does('trial'), outage, server }) },
  { weight: 4, arbitrary: fc.record({ ...does('trial failed'), outage, server }) },
  { weight: 1, arbitrary: fc.record({ ...does('trial showed nothing'), outage, server }) },
  { weight: 1, arbitrary: fc.record(does('check')) },
  { weight: 1, arbitrary: fc.record({ ...does('use'), servers: fleet }) },
  { weight: 1, arbitrary: fc.record({ ...does('moves'), server, node, told: anyTold }) },
  { weight: 1, arbitrary: fc.record({ ...does('forget'), channel, node }) },
  {
    weight: 1,
    arbitrary: fc.record({ ...does('reset'), channels: fc.subarray([...PATHS, 'sockets' as const]) }),
  },
);

/**
 * Outages by subject, without the details in which the two may differ. Of failures at the same
 * time, each may show another one.
 */
function shown(outages: ReadonlyMap<Subject, Outage>) {
  const rows = [...outages].map(([subject, { problem, ...rest }]) => {
    const at = problem && /at (\d+)/.exec(problem.detail)?.[1];
    return [subject, { ...rest, problemAt: at }] as const;
  });
  return Object.fromEntries(rows.toSorted(([one], [other]) => one.localeCompare(other)));
}

/**
 * Asserts that each new outage has a problem and a due trial, and that no recent success
 * contradicts it.
 */
function expectSane(before: BlameState['outages'], { state, cells, now }: World): void {
  for (const [subject, { problem, blamedAt, trialAt, suspectedAt }] of state.outages) {
    if (before.has(subject)) continue;
    expect(problem).toBeDefined();
    expect(blamedAt).toBeUndefined();
    expect(suspectedAt).toBe(now);
    expect(trialAt).toBeGreaterThanOrEqual(now);
    const node = subjectNode(subject);
    if (node === undefined) continue;
    const sign = ({ asked, last }: Cell) =>
      asked.node === node && last?.signs.node === 'works' ? last : undefined;
    for (const cell of cells[subjectChannel(subject)].values()) {
      const worked = sign(cell);
      expect(worked?.streams === true || (worked?.at ?? 0) > now - 120_000).toBe(false);
    }
  }
}

/**
 * Plays the steps. After each step, the ledger and the oracle must have the same outages. Returns
 * what happened to them.
 */
function play(first: readonly (Fleet | undefined)[], played: readonly Step[]): readonly string[] {
  const world = new World();
  const fates: string[] = [];
  world.setUse(first);
  const judge = () => {
    const before = world.state.outages;
    world.judge();
    fates.push(...fatesOf(before, world.state.outages));
    expect(shown(world.ledger.outages)).toEqual(shown(world.state.outages));
    expectSane(before, world);
  };
  for (const one of played) {
    if (one.does !== 'storm') world.run(one);
    else {
      world.now += one.waitMs;
      for (const [index, id] of world.stormed(one).entries()) {
        world.now += one.told.tookMs % 7;
        world.record(one.channel, id, index % 2 === 1 ? (one.second ?? one.told) : one.told);
        if (one.judges) judge();
      }
    }
    if (one.judges) judge();
  }
  return fates;
}

function fatesOf(before: BlameState['outages'], after: BlameState['outages']): readonly string[] {
  const began = [...after.keys()].filter((subject) => !before.has(subject));
  const ended = [...before.keys()].filter((subject) => !after.has(subject));
  const blamed = [...after].filter(([, { blamedAt }]) => blamedAt !== undefined);
  return [
    ...began.map((subject) => `${subject} begins`),
    ...ended.map((subject) => `${subject} ends`),
    ...blamed.map(([subject]) => `${subject} is blamed`),
  ];
}

const then = { waitMs: 1, judges: true };
const told = (what: Told['what'], fromPanel = true): Told => ({ what, fromPanel, tookMs: 1 });
const all = (channel: Channel, what: Told, on: number | 'any' | undefined = 'any'): Step => ({
  ...then,
  does: 'storm',
  channel,
  node: on,
  most: SERVERS,
  told: what,
  second: undefined,
});
const one = (channel: Channel, what: Told): Step => ({
  ...then,
  does: 'outcome',
  channel,
  server: 0,
  told: what,
});
const failedTrial: readonly Step[] = [
  { ...then, does: 'trial', outage: 0, server: 1 },
  { ...then, does: 'trial failed', outage: 0, server: 1 },
];
const EIGHT: readonly Fleet[] = Array.from({ length: 8 }, (_, index) => ({ node: index % 2, paths: 3 }));

it.each<[Subject, readonly Step[]]>([
  ['sockets n0', [all('sockets', told('node_connection'), 0), ...failedTrial, one('sockets', told('works'))]],
  [
    'polls n0',
    [all('resources', told('node_unreachable'), 0), ...failedTrial, one('resources', told('works'))],
  ],
  [
    'consoles',
    [all('websocket', told('no_console_permission')), ...failedTrial, one('websocket', told('works'))],
  ],
  [
    'path resources',
    [
      one('listing', told('works')),
      all('resources', told('timeout', false)),
      one('listing', told('works')),
      ...failedTrial,
      one('resources', told('works')),
    ],
  ],
  [
    'panel',
    [one('listing', told('timeout', false)), ...failedTrial, ...failedTrial, one('resources', told('works'))],
  ],
])('%s begins, is blamed and ends, for the ledger as for the oracle', (subject, played) => {
  const fates = new Set(play(EIGHT, played).filter((fate) => fate.startsWith(subject)));
  expect([...fates]).toEqual([`${subject} begins`, `${subject} is blamed`, `${subject} ends`]);
});

it('a refusal that was known when a path was suspected does not end the suspicion', () => {
  const now = { waitMs: 0, judges: true };
  const at = (what: Told['what']): Told => ({ what, fromPanel: false, tookMs: 0 });
  const silent = { ...all('resources', { ...at('timeout'), tookMs: 20_000 }), ...now, judges: false };
  const fates = play(EIGHT, [
    silent,
    { ...one('resources', at('no_console_permission')), ...now },
    { ...one('listing', at('works')), ...now },
    { ...then, does: 'check', waitMs: 5_000 },
  ]);
  expect(fates.filter((fate) => fate.startsWith('path'))).toEqual(['path resources begins']);
});

it('the ledger names the same outages as the oracle, whatever happens', { timeout: 3_600_000 }, () => {
  fc.assert(
    fc.property(fleet, fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (first, played) => {
      play(first, played);
    }),
    fuzzRuns(100),
  );
});
