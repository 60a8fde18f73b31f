// Stories of random faults, and the check that the exporter blames only real ones.
import * as fc from 'fast-check';
import { expect } from 'vitest';
import type { Effect, Fault, ServerGroup } from '../../bench/fairness/scripted-panel.ts';
import { startWorld, type World } from '../../bench/fairness/simulation.ts';
import { PATHS, type Path } from '../../src/panel/subjects.ts';
import { type Look, type Seen, watchWorld } from './world-watch.ts';

/** The maximum age of a healthy server's newest sample, if the rate limit suffices. */
const STALENESS_S = 60;

/** The time after which everything works again, counted from the end of a fault. */
const BACK_S = 75;

const REQUEST_TIMEOUT_S = 25;

/** The time until the first data of a fleet of this size. */
const START_S = 5;

const NODES = ['n0', 'n1', 'n2'] as const;

export const GROUPS: readonly ServerGroup[] = [
  ...NODES.map((node) => ({ count: 6, mode: 'auto', trouble: 'none', node }) as const),
  { count: 6, mode: 'poll', trouble: 'none', node: 'n2' },
  { count: 6, mode: 'auto', trouble: 'none', node: 'n3' },
];

const SERVERS = GROUPS.flatMap(({ count, ...server }) => Array.from({ length: count }, () => server));

const SOCKETS = SERVERS.filter(({ mode }) => mode === 'auto').length;

/** The calls per minute for polls of all servers, and the share that is reserved for tokens. */
const NEEDED = (SERVERS.length * 2) / 0.9;

/**
 * The calls of the minute in which all servers start again: a token and two polls per server, and
 * the share of backups and schedules.
 */
const NEEDED_AT_ONCE = (SOCKETS + SERVERS.length * 2) / 0.75;

/** The number of simultaneous calls, and the maximum duration of each. */
const [PLACES, CALL_S] = [8, 0.15];

/** A server whose socket is tried again after a change is only polled after this time. */
const WOKEN_S = 30;

/**
 * The bounds that a rate limit allows.
 *
 * If there are more calls than the limit allows, data is older, everything works again a minute
 * later, also after a reload, and sockets stream as soon as polls leave calls for their tokens. As
 * long as tokens are needed, polls get half of the calls: of 48 calls, 24 are polls, so six of 30
 * servers are polled a minute later, and their data is two minutes old.
 *
 * If only the calls of the first minute exceed the limit, a poll waits for the next minute, and
 * then for the calls before it.
 */
function boundsOf({ limit, reload }: Pick<Story, 'limit' | 'reload'>) {
  const perMinute = limit * 0.8;
  const queuedS = (perMinute / PLACES) * CALL_S;
  if (perMinute < NEEDED) {
    const minutes = Math.ceil(SERVERS.length / (perMinute / 2));
    const backS = BACK_S + 60 + (reload === undefined ? 0 : WOKEN_S);
    return { oldestS: minutes * 60 + queuedS, backS, streamsS: BACK_S + tokensS(perMinute) };
  }
  const oldestS = STALENESS_S + (perMinute < NEEDED_AT_ONCE ? queuedS : 0);
  return { oldestS, backS: BACK_S, streamsS: BACK_S };
}

/**
 * Seconds until every socket has a token, if all servers are polled at first. Polls take 90 % of
 * the calls that the tokens of open sockets leave, or fewer if they need fewer.
 */
function tokensS(perMinute: number): number {
  let streaming = 0;
  for (let second = 1; ; second += 1) {
    const polls = Math.min(2 * (SERVERS.length - streaming), 0.9 * (perMinute - streaming / 8));
    streaming += (perMinute - polls) / 60;
    if (streaming >= SOCKETS) return second;
  }
}

/** The faults and the reload that a fleet experiences. */
export interface Story {
  readonly faults: readonly Fault[];
  /** A reload with another key, or with another connection to the panel. */
  readonly reload: { readonly minute: number; readonly of: 'key' | 'access' } | undefined;
  readonly limit: number;
  readonly seed: number;
}

type Hit = Path | 'socket';

const isLimited = ({ effect }: Fault) => effect === 'throttled' || effect === 'limited';

/**
 * Whether the fault affects these calls, or the sockets, of a node. An undefined node stands for
 * all.
 */
function concerns(fault: Fault, part: Hit, node: string | undefined, faults: readonly Fault[]): boolean {
  const limits = faults.filter((one) => isLimited(one) && one.on !== fault.on);
  // A limit of the account, or of two paths, concerns every call: after a pause of the account, one
  // call tests whether it is over, and a 429 on any path continues the pause.
  const isOfAccount = fault.effect === 'limited' || (fault.effect === 'throttled' && limits.length > 0);
  const isAll = fault.on === undefined || isOfAccount;
  return (isAll ? part !== 'socket' : fault.on === part) && (fault.node === undefined || fault.node === node);
}

/** Whether one of these faults was active during these seconds. */
const lasted = (faults: readonly Fault[], fromS: number, toS: number) =>
  faults.some(({ fromMinute, toMinute }) => fromMinute * 60 <= toS && fromS < toMinute * 60);

/** Whether one of these faults caused failures during these seconds. */
const during = (faults: readonly Fault[], fromS: number, toS: number) =>
  faults.some((fault) => {
    // A node with a new address works there. Only the change causes failures.
    const turns = [fault.fromMinute * 60, fault.toMinute * 60];
    if (fault.effect === 'moved') return turns.some((at) => fromS <= at && at <= toS);
    return lasted([fault], fromS, toS);
  });

/** Whether polls, or the socket, of a server worked all the time between these seconds. */
function isWell(
  { mode, node }: (typeof SERVERS)[number],
  faults: readonly Fault[],
  fromS: number,
  toS: number,
) {
  const works = (...parts: Hit[]) =>
    !during(
      faults.filter((fault) => parts.some((part) => concerns(fault, part, node, faults))),
      fromS,
      toS,
    );
  return { polls: works('resources'), streams: mode === 'auto' && works('websocket', 'socket') };
}

/** The first second in which the server list is readable. Then the servers' nodes become known. */
function readableFrom(faults: readonly Fault[]): number {
  const hits = faults.filter((fault) => concerns(fault, 'listing', undefined, faults));
  let second = 0;
  while (during(hits, second, second)) second += 1;
  return second;
}

/** The faults for which this scope may be blamed, and the parts that its trials need. */
function reasonsOf(
  scope: string,
  faults: readonly Fault[],
  areNodesKnown: boolean,
): { reasons: readonly Fault[]; parts: readonly Hit[] } {
  const [kind, name = ''] = scope.split(' ');
  const failing = faults.filter((fault) => !isLimited(fault) && fault.effect !== 'console limit');
  if (kind === 'panel')
    return { reasons: failing.filter(({ node, on }) => node === undefined && on !== 'socket'), parts: PATHS };
  if (kind === 'path') {
    // If the panel works, a 404 is about the server. Servers without a known node may belong to
    // several nodes.
    const reasons = failing.filter(
      ({ on = name, node, effect }) =>
        on === name && (node === undefined || !areNodesKnown) && !(effect === 'missing' && on !== 'listing'),
    );
    return { reasons, parts: [name as Path] };
  }
  if (kind === 'node') {
    const reasons = failing.filter(({ node }) => node === name);
    const isPolls = reasons.every(({ on }) => on === 'resources');
    return { reasons, parts: isPolls ? ['resources'] : ['websocket', 'socket', 'resources'] };
  }
  return { reasons: kind === 'rate_limited' ? faults.filter(isLimited) : [], parts: [...PATHS] };
}

/** Whether this scope may be blamed in this second. */
function mayBeBlamed(scope: string, faults: readonly Fault[], second: number, backS: number): boolean {
  const unknownUntil = readableFrom(faults);
  const areNodesKnown = unknownUntil === 0 || second > unknownUntil + backS;
  const { reasons, parts } = reasonsOf(scope, faults, areNodesKnown);
  const [kind, name] = scope.split(' ');
  const node = kind === 'node' ? name : undefined;
  const hits = faults.filter((fault) =>
    parts.some((part) => concerns(fault, part, node ?? fault.node, faults)),
  );
  return (
    during(reasons, 0, second) &&
    during(hits, second - backS, second) &&
    (kind !== 'panel' || isPanelHit(faults, second, backS))
  );
}

const CANARIES = ['listing', 'websocket', 'resources'] as const;

/**
 * The time after which a panel that works again is tested successfully. The first test starts
 * within 25 s. If two kinds of calls are limited then, both may get a 429 before a call of the
 * third kind starts. This pauses the account for 20 s, and then for up to a minute, because a 429
 * doesn't prove that the panel works.
 */
const PAUSED_TWICE_S = 25 + 20 + 60;

/** Whether the panel may be blamed: only if calls of each kind failed at the same time. */
function isPanelHit(faults: readonly Fault[], second: number, backS: number): boolean {
  const isHit = (path: Path, at: number) =>
    during(
      faults.filter(
        (fault) =>
          fault.node === undefined && !isLimited(fault) && (fault.on === undefined || fault.on === path),
      ),
      at,
      at,
    );
  const limits = faults.filter(
    (fault) => isLimited(fault) && lasted([fault], second - PAUSED_TWICE_S, second),
  );
  const limited = CANARIES.filter((path) => limits.some(({ on }) => on === path));
  const triedS = limited.length < 2 ? backS : Math.max(backS, PAUSED_TWICE_S);
  return Array.from({ length: triedS + 1 }, (_, ago) => second - ago).some((at) =>
    CANARIES.every((path) => isHit(path, at)),
  );
}

/** Starts a fleet with the story's faults. */
export function playing({ faults, reload, limit, seed }: Story): World {
  const setting = {
    limit,
    groups: GROUPS,
    faults,
    listingMinutes: 1,
    backupMinutes: 10,
    scheduleMinutes: 10,
  };
  const world = startWorld(setting, seed);
  for (const { on, node, fromMinute } of faults)
    if (on === 'socket' && node !== undefined)
      world.clock.schedule(fromMinute * 60_000, () => world.panel.dropSockets(node));
  if (reload !== undefined) world.clock.schedule(reload.minute * 60_000, () => reloadOf(world, reload.of));
  return world;
}

/** Plays a story, and compares the visible problems with the real ones in every second. */
export async function expectTruth(story: Story): Promise<Seen> {
  const { faults, limit } = story;
  const world = playing(story);
  const { backS, streamsS } = boundsOf(story);
  const overS = Math.max(...faults.map(({ toMinute }) => toMinute)) * 60;
  const end = overS + backS;
  // One second more, because minutes are rounded.
  const seen = await watchWorld(world, (Math.max(end + 60, overS + streamsS) + 1) / 60);
  await world.fleet.stop();
  let isKnown = false;
  for (let second = START_S; second <= end + 60; second += 1) {
    const look = seen.at(second);
    const found = strange(look, second, story);
    expect(found, `after ${second} s: ${JSON.stringify(found)}`).toEqual({
      servers: [],
      blamed: [],
      blocked: [],
      untold: [],
    });
    isKnown ||= look.up || look.causes.length > 0;
    if (isKnown && !look.up) expect({ second, causes: look.causes }).not.toEqual({ second, causes: [] });
  }
  expect(seen.mostCausesPerScope).toBeLessThanOrEqual(1);
  expect(seen.busiestMinute).toBeLessThanOrEqual(limit * 0.8);
  const { blamed, blocked } = seen.at(end);
  // A renewed token with another address moves the socket, which takes a moment.
  const lately = [0, 1, 2].map((ago) => seen.at(overS + streamsS - ago).streaming);
  const streaming = Math.max(...lately);
  expect({ blamed, blocked, streaming }).toEqual({ blamed: [], blocked: [], streaming: SOCKETS });
  return seen;
}

function reloadOf({ fleet }: World, what: 'key' | 'access'): void {
  if (what === 'key') fleet.keyChanged();
  else fleet.accessChanged();
}

/**
 * The scopes that have to be blamed in this second, because only their fault was active for long
 * enough.
 */
function toldBy(story: Story, second: number): readonly string[] {
  const { faults, reload } = story;
  const { backS } = boundsOf(story);
  // After a reload with another connection, the exporter has to find the fault again.
  const reloadS = reload !== undefined && reload.minute * 60 < second ? reload.minute * 60 : 0;
  return faults.flatMap((fault) => {
    const { effect, on, node, fromMinute } = fault;
    const others = faults.filter(
      (other) => other !== fault && other.on !== 'backups' && other.on !== 'schedules',
    );
    // A call that hangs has to time out first.
    const fromS = Math.max(fromMinute * 60, reloadS) + (effect === 'hang' ? REQUEST_TIMEOUT_S : 0);
    if (
      second < fromS + backS ||
      !during([fault], second, second) ||
      lasted(others, fromMinute * 60 - backS, second)
    )
      return [];
    if (on === undefined) return effect === 'flaky' ? [] : ['panel'];
    return on === 'socket' && effect !== 'moved' ? [`node ${node ?? ''}`] : [];
  });
}

/**
 * A canary that hangs delays the next one by 2 s, and calls that hang occupy their places for 3 s.
 */
const HANGING_S = 5;

/**
 * The delay of a server's polls through faults. Token requests that hang occupy places, and a
 * server whose socket fails again is only polled after the trial, and after the servers before it.
 */
function polledAfterS({ mode }: (typeof SERVERS)[number], faults: readonly Fault[]): number {
  const hangs = faults.some(({ effect, on }) => effect === 'hang' && on === 'websocket');
  if (mode === 'poll') return hangs ? HANGING_S : 0;
  return WOKEN_S + (hangs ? Math.ceil(SOCKETS / PLACES) * REQUEST_TIMEOUT_S : 0);
}

/** Everything visible that the faults don't explain. */
function strange(look: Look, second: number, story: Story) {
  const { faults } = story;
  const { oldestS, backS } = boundsOf(story);
  const since = Math.max(0, second - backS);
  const servers = SERVERS.flatMap((server, index) => {
    const { streams } = isWell(server, faults, since, second);
    const polledSince = since - polledAfterS(server, faults);
    const { polls } = isWell(server, faults, Math.max(0, polledSince), second);
    // At the start, calls of a failing path occupy places that others need.
    const isExpected = polledSince < 0 ? streams || !during(faults, 0, second) : polls || streams;
    return isExpected && (look.ages[index] ?? 0) > oldestS ? [`${index} of ${server.node}`] : [];
  });
  const blamed = look.blamed.filter((scope) => !mayBeBlamed(scope, faults, second, backS));
  const blocking = faults.filter(({ effect }) => effect === 'missing' || effect === 'revoked');
  const asking = faults.filter(({ on }) => on !== 'backups' && on !== 'schedules');
  const mayBeBlocked = during(blocking, 0, second) && during(asking, since, second);
  const untold = toldBy(story, second).filter((scope) => !look.blamed.includes(scope));
  return { servers, blamed, blocked: mayBeBlocked ? [] : look.blocked, untold };
}

const anyLasting = fc
  .record({ fromMinute: fc.integer({ min: 0, max: 20 }), lasts: fc.integer({ min: 1, max: 16 }) })
  .map(({ fromMinute, lasts }) => ({ fromMinute: fromMinute / 4, toMinute: (fromMinute + lasts) / 4 }));

const drawn = (
  effects: readonly Effect[],
  on: readonly (Fault['on'] | undefined)[],
  nodes: readonly (string | undefined)[] = [undefined],
): fc.Arbitrary<Fault> =>
  fc
    .record({
      effect: fc.constantFrom(...effects),
      on: fc.constantFrom(...on),
      node: fc.constantFrom(...nodes),
      lasting: anyLasting,
    })
    .map(({ effect, on: part, node, lasting: { fromMinute, toMinute } }) => ({
      effect,
      fromMinute,
      toMinute,
      on: part,
      node,
    }));

/** All kinds of faults. Each is over within 75 s after its end, without an action of a person. */
const anyFault: fc.Arbitrary<Fault> = fc.oneof(
  // Faults of the panel, of its key, and of a proxy of which one half fails.
  drawn(['cut', 'hang', 'down', 'page', 'error', 'missing', 'revoked', 'flaky'], [undefined]),
  // Faults of a path.
  drawn(['cut', 'hang', 'down', 'page', 'error', 'missing', 'flaky', 'throttled', 'limited'], PATHS),
  drawn(['console limit'], ['websocket']),
  // Faults of a node, as the panel sees it, and of its daemon.
  drawn(['error', 'hang', 'unreachable', 'missing'], ['resources'], NODES),
  drawn(['error', 'missing'], ['websocket'], NODES),
  drawn(
    ['refused', 'origin', 'mismatch', 'clock', 'certificate', 'hang', 'mute', 'garbage', 'closing', 'moved'],
    ['socket'],
    NODES,
  ),
);

export const anyStory: fc.Arbitrary<Story> = fc.record({
  faults: fc.array(anyFault, { minLength: 2, maxLength: 3 }),
  reload: fc.option(
    fc.record({
      minute: fc.integer({ min: 1, max: 32 }).map((quarter) => quarter / 4 + 0.01),
      of: fc.constantFrom('key' as const, 'access' as const),
    }),
    { nil: undefined },
  ),
  limit: fc.constantFrom(60, 120, 240),
  seed: fc.nat(1_000_000),
});
