import type { Clock } from '../domain/clock.ts';
import type { SampleSource } from '../domain/server.ts';
import type { Role, TurnEnd } from '../session/session-ports.ts';
import { type Plan, polledStalenessMs } from './plan.ts';
import type { Member } from './roster.ts';
import type { ServerRecord } from './server-record.ts';
import { type Defer, SlicedWork } from './sliced-work.ts';

/** A plan and its input. */
export interface Planned {
  readonly plan: Plan;
  readonly stalenessMs: number;
  /** Calls a minute that the budget allows. */
  readonly callsPerMinute: number;
}

/** How the plan has a server observed; `suspended` if the listing says that it is blocked, for whatever reason. */
type PlannedRole = 'stream' | 'turns' | 'poll' | 'suspended';

/** Gives members the roles that the plan has for them, some hundred at a time. */
export class RoleAssigner {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #turns = new Turns();
  readonly #work: SlicedWork;
  constructor(clock: Clock, random: () => number, defer: Defer | undefined) {
    this.#clock = clock;
    this.#random = random;
    this.#work = new SlicedWork(defer);
  }

  /** Applies the plan to these members and no others; the rest of an unfinished plan is dropped. */
  apply(members: readonly Member[], planned: Planned): void {
    const { turnSockets } = planned.plan;
    const takers: Member[] = [];
    const staleness = stalenessByRole(planned);
    const roles = rolesOf(members, planned.plan);
    for (const [index, member] of members.entries()) {
      const role = roles[index] ?? 'stream';
      member.record.staleness = staleness[role];
      if (role === 'turns') takers.push(member);
    }
    // Turns are planned at once, though they begin later: a turn that ends meanwhile goes to a member that takes turns now.
    this.#turns.plan(streamingFirst(takers), turnSockets);
    this.#work.begin(this.#assign(members, roles, takers, planned));
  }

  stop(): void {
    this.#work.cancel();
    this.#turns.plan([], 0);
  }

  *#assign(
    members: readonly Member[],
    roles: readonly PlannedRole[],
    takers: readonly Member[],
    planned: Planned,
  ): Generator<void, void, void> {
    const { pollIntervalMs } = planned.plan;
    for (const [index, member] of members.entries()) {
      const role = roles[index];
      if (role === 'stream') member.assume({ type: 'stream', pollIntervalMs });
      else if (role === 'suspended') suspend(member);
      else if (role === 'poll') member.assume(this.#polledRole(member.record, planned));
      yield;
    }
    while (this.#turns.beginNext()) yield;
    for (const taker of takers) {
      if (!this.#turns.has(taker)) taker.waitForTurn();
      yield;
    }
  }

  // First polls are spread over the time that the budget takes for them, so that they don't all queue at once.
  #polledRole({ source, sampledAt }: ServerRecord, { plan, callsPerMinute }: Planned): Role {
    const { pollIntervalMs, polls } = plan;
    const roundMs = Math.min(pollIntervalMs, (polls / callsPerMinute) * 60_000);
    const firstPollAt =
      source === 'poll' && sampledAt !== undefined
        ? sampledAt + pollIntervalMs
        : this.#clock.now() + roundMs * this.#random();
    return { type: 'poll', pollIntervalMs, firstPollAt };
  }
}

function suspend(member: Member): void {
  const { blocked } = member.record.target;
  if (blocked !== undefined) member.assume({ type: 'suspended', reason: blocked });
}

/** The roles of the members, in the same order. */
function rolesOf(members: readonly Member[], plan: Plan): readonly PlannedRole[] {
  const roles = members.map((member) => roleOf(member, plan));
  if (plan.streamed === undefined) return roles;
  const auto = members.filter(({ record: { target } }, index) => {
    return target.mode === 'auto' && roles[index] === 'stream';
  });
  // A server whose socket fails leaves its place to others.
  const first = streamingFirst(auto.filter(({ standing }) => standing === 'planned'));
  const last = auto.filter(({ standing }) => standing !== 'planned');
  const polled = new Set([...first, ...last].slice(plan.streamed));
  return roles.map((role, index) => {
    const member = members[index];
    return member !== undefined && polled.has(member) ? 'poll' : role;
  });
}

function roleOf({ record: { target }, standing }: Member, plan: Plan): PlannedRole {
  if (target.blocked !== undefined) return 'suspended';
  if (target.mode === 'poll') return 'poll';
  // A server whose socket fails takes no turn from others: it is retried separately until it streams.
  return target.mode === 'auto' && plan.turns > 0 && standing === 'planned' ? 'turns' : 'stream';
}

type Staleness = Readonly<Record<SampleSource, number>>;

function stalenessByRole({ plan, stalenessMs }: Planned): Record<PlannedRole, Staleness> {
  const polledEvery = (intervalMs: number): Staleness => ({
    socket: stalenessMs,
    poll: polledStalenessMs(stalenessMs, intervalMs),
  });
  const streamed = polledEvery(plan.pollIntervalMs);
  return {
    stream: streamed,
    suspended: streamed,
    poll: streamed,
    turns: { socket: plan.longestAgeMs, poll: plan.longestAgeMs },
  };
}

/** A member that already has a socket comes first, because it needs no new one. */
function streamingFirst(takers: readonly Member[]): readonly Member[] {
  const isLive = ({ record }: Member) => record.status.condition === 'streaming';
  return [...takers.filter(isLive), ...takers.filter((taker) => !isLive(taker))];
}

/** A member that takes turns: `beginTurn` starts its turn, and it reports when the turn is over. */
export interface TurnTaker {
  beginTurn(onOver: (end?: TurnEnd) => void): void;
}

/** Lets many take turns at a few places: the one that has waited longest is next. */
export class Turns {
  #places = 0;
  #waiting = new Set<TurnTaker>();
  #taking = new Set<TurnTaker>();

  /** Does it have a turn now? */
  has(taker: TurnTaker): boolean {
    return this.#taking.has(taker);
  }

  /**
   * Sets who takes turns, and at how many places. Turns under way continue; new members queue behind the others, in the given
   * order. `beginNext` fills free places.
   */
  plan(takers: readonly TurnTaker[], places: number): void {
    const wanted = new Set(takers);
    this.#waiting = new Set([...this.#waiting].filter((taker) => wanted.has(taker)));
    this.#taking = new Set([...this.#taking].filter((taker) => wanted.has(taker)));
    for (const taker of takers) if (!this.#taking.has(taker)) this.#waiting.add(taker);
    this.#places = places;
  }

  /** Begins one more turn; false if no place is free or nobody is waiting. */
  beginNext(): boolean {
    if (this.#taking.size >= this.#places) return false;
    const [next] = this.#waiting;
    if (next === undefined) return false;
    this.#waiting.delete(next);
    this.#taking.add(next);
    next.beginTurn((end) => this.#over(next, end));
    return true;
  }

  #over(taker: TurnTaker, end: TurnEnd = 'spent'): void {
    if (!this.#taking.delete(taker)) return;
    if (end === 'spent') this.#waiting.add(taker);
    this.beginNext();
  }
}
