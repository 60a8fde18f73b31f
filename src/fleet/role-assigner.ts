import type { Clock } from '../domain/clock.ts';
import type { SampleSource } from '../domain/sample.ts';
import type { Role } from '../session/poll-policy.ts';
import type { Member } from './member.ts';
import { type Plan, polledStalenessMs, TURN_MS } from './plan.ts';
import type { ServerRecord } from './server-record.ts';
import { type Defer, SlicedWork } from './sliced-work.ts';
import { Turns } from './turns.ts';

/** A plan, and what it was made from. */
export interface Planned {
  readonly plan: Plan;
  readonly pollIntervalMs: number;
  readonly stalenessMs: number;
  /** What the budget carries. */
  readonly callsPerMinute: number;
}

/** How the plan has a server observed. */
type PlannedRole = 'stream' | 'turns' | 'poll' | 'held';

/** Gives members the roles that a plan has for them, some hundred at a time. */
export class RoleAssigner {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #turns = new Turns();
  readonly #work: SlicedWork;
  #cycleMs = TURN_MS;

  constructor(clock: Clock, random: () => number, defer: Defer | undefined) {
    this.#clock = clock;
    this.#random = random;
    this.#work = new SlicedWork(defer);
  }

  /** How long it takes until a server's turn comes round, in milliseconds. */
  get cycleMs(): number {
    return this.#cycleMs;
  }

  /** Brings these members in line with the plan, and no others; what is left of the plan before is dropped. */
  apply(members: readonly Member[], planned: Planned): void {
    const { turns, turnSockets } = planned.plan;
    this.#cycleMs = turnSockets === 0 ? TURN_MS : (turns / turnSockets) * TURN_MS;
    const takers: Member[] = [];
    const staleness = stalenessByRole(planned);
    for (const member of members) {
      const role = roleOf(member.record, planned.plan);
      member.record.staleness = staleness[role];
      if (role === 'turns') takers.push(member);
    }
    // At once, though they begin later: a turn that ends meanwhile goes to one who takes turns now.
    this.#turns.plan(streamingFirst(takers), turnSockets);
    this.#work.begin(this.#assign(members, takers, planned));
  }

  stop(): void {
    this.#work.cancel();
    this.#turns.plan([], 0);
  }

  *#assign(
    members: readonly Member[],
    takers: readonly Member[],
    planned: Planned,
  ): Generator<void, void, void> {
    const { pollIntervalMs } = planned;
    for (const member of members) {
      const role = roleOf(member.record, planned.plan);
      if (role === 'stream') member.assume({ type: 'stream', pollIntervalMs });
      else if (role === 'held') hold(member);
      else if (role === 'poll') member.assume(this.#polledRole(member.record, planned));
      yield;
    }
    while (this.#turns.beginNext()) yield;
    for (const taker of takers) {
      if (!this.#turns.has(taker)) taker.waitForTurn();
      yield;
    }
  }

  // First polls are spread over the time that the budget takes for them, so that they don't stand in line together.
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

function hold(member: Member): void {
  const { blocked } = member.record.target;
  if (blocked !== undefined) member.assume({ type: 'held', reason: blocked });
}

function roleOf({ target }: ServerRecord, plan: Plan): PlannedRole {
  if (target.blocked !== undefined) return 'held';
  if (target.mode === 'poll') return 'poll';
  return target.mode === 'auto' && plan.turns > 0 ? 'turns' : 'stream';
}

type Staleness = Readonly<Record<SampleSource, number>>;

function stalenessByRole({ plan, pollIntervalMs, stalenessMs }: Planned): Record<PlannedRole, Staleness> {
  const polledEvery = (intervalMs: number): Staleness => ({
    socket: stalenessMs,
    poll: polledStalenessMs(stalenessMs, intervalMs),
  });
  const streamed = polledEvery(pollIntervalMs);
  return {
    stream: streamed,
    held: streamed,
    poll: polledEvery(plan.pollIntervalMs),
    turns: { socket: plan.longestAgeMs, poll: plan.longestAgeMs },
  };
}

/** Who has a socket already begins, and needs no new one for it. */
function streamingFirst(takers: readonly Member[]): readonly Member[] {
  const isLive = ({ record }: Member) => record.status.condition === 'streaming';
  return [...takers.filter(isLive), ...takers.filter((taker) => !isLive(taker))];
}
