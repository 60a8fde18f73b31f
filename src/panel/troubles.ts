import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import {
  type AskedServer,
  afterProof,
  afterTrial,
  type BlameState,
  blame,
  type Cell,
  type Cells,
  CHANNELS,
  type Channel,
  channelOf,
  NO_SERVER,
  NO_TROUBLES,
  type Outcome,
  problemOfSubject,
  type Subject,
  type Trial,
  type Trouble,
  trialServer,
  withCheck,
  withTrial,
} from './blame.ts';

export interface TroublesOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** May this server be asked on this channel at once? */
  readonly hasRoom: (channel: Channel, server: string) => boolean;
  /** Tries the subject; resolves with the problem if it failed, with undefined if it showed nothing or its success is recorded. */
  readonly onTrial: (subject: Subject, trial: Trial, signal: AbortSignal) => Promise<Problem | undefined>;
  /** A subject is blamed, or no longer, or for another problem. */
  readonly onChange: (subject: Subject, isBlamed: boolean) => void;
  /** Troubles or trials changed, on which the starts of calls depend. */
  readonly onStep: () => void;
}

/** The last outcomes of a panel's servers, and who is in trouble according to them; starts the trials that are due. */
export class Troubles {
  readonly #options: TroublesOptions;
  readonly #cells = Object.fromEntries(
    CHANNELS.map((channel) => [channel, new Map<string, Cell>()]),
  ) as Record<Channel, Map<string, Cell>>;
  /** Trials under way. */
  readonly #scopes = new Map<Subject, AbortController>();
  #state: BlameState = NO_TROUBLES;
  #cancelTimer: Cancel = () => undefined;
  #isStopped = false;

  constructor(options: TroublesOptions) {
    this.#options = options;
  }

  get state(): BlameState {
    return this.#state;
  }

  get cells(): Cells {
    return this.#cells;
  }

  /** A call has shown that the panel works. */
  get isKnown(): boolean {
    return Number.isFinite(this.#state.provenAt);
  }

  /** The problem of a subject that is blamed. */
  problemOf(subject: Subject): Problem | undefined {
    return problemOfSubject(subject, this.#state);
  }

  /** The servers that are asked on each channel from now on; others are forgotten. */
  setAsked(asked: Readonly<Record<Channel, ReadonlyMap<string, AskedServer>>>): void {
    for (const channel of CHANNELS) {
      const before = this.#cells[channel];
      this.#cells[channel] = new Map(
        [...asked[channel]].map(([id, server]) => [id, { asked: server, last: before.get(id)?.last }]),
      );
    }
    for (const [subject, { trial }] of this.#state.troubles)
      if (trial !== undefined && subject !== 'panel' && !this.#cells[channelOf(subject)].has(trial.server))
        this.#state = afterTrial(this.#state, subject, undefined, this.#now);
    if (this.#state.troubles.size > 0) this.#judge();
  }

  /** The trial's call only starts now: the next trial comes a gap after this. */
  trialStarts(subject: Subject): void {
    const server = this.#state.troubles.get(subject)?.trial?.server;
    if (server !== undefined) this.#state = withTrial(this.#state, subject, server, this.#now);
  }

  /** The panel is to be tried at once. */
  check(): void {
    this.#become(withCheck(this.#state, this.#now));
  }

  /** These channels are reached in another way: what they showed is forgotten, except for sockets that still stream. */
  forget(isMeant: (channel: Channel) => boolean): void {
    for (const channel of CHANNELS.filter(isMeant))
      this.forgetOutcomes(channel, ({ last }) => last?.streams !== true);
    const isKept = (subject: Subject) => subject === 'panel' || !isMeant(channelOf(subject));
    this.#become({
      ...this.#state,
      troubles: new Map([...this.#state.troubles].filter(([subject]) => isKept(subject))),
    });
  }

  forgetOutcomes(channel: Channel, isMeant: (cell: Cell) => boolean): void {
    for (const [server, cell] of this.#cells[channel])
      if (isMeant(cell)) this.#cells[channel].set(server, { ...cell, last: undefined });
  }

  /** A call or a socket of a server ended, or began to stream. */
  record(channel: Channel, server: string, outcome: Omit<Outcome, 'at'>): void {
    const last = { ...outcome, at: this.#now };
    const isDown = this.#state.troubles.get('panel')?.blamedAt !== undefined;
    if (last.signs.panel === 'works') this.#state = afterProof(this.#state, this.#now);
    const cell = this.#cells[channel].get(server);
    // The panel's problem explains which calls fail meanwhile.
    const isExplained = isDown && channel !== 'sockets' && outcome.problem !== undefined;
    if (cell !== undefined && !isExplained) this.#cells[channel].set(server, { ...cell, last });
    // In a fleet without trouble, a success changes nothing.
    if (outcome.problem !== undefined || this.#state.troubles.size > 0) this.#judge();
  }

  /** The server that tries the subject at once; undefined if there is none. */
  serverWithRoom(subject: Subject): string | undefined {
    const { hasRoom, random } = this.#options;
    const channel = channelOf(subject);
    const withRoom = [...this.#cells[channel]].filter(([server]) => hasRoom(channel, server));
    // Before any success, a 404 isn't about the server.
    const shown = withRoom.map(
      ([server, cell]) => [server, this.isKnown ? cell : { asked: cell.asked }] as const,
    );
    return trialServer(subject, { ...this.#cells, [channel]: new Map(shown) }, random);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    for (const scope of this.#scopes.values()) scope.abort(new Error('stopped'));
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** Decides who is in trouble. */
  #judge(): void {
    this.#become(blame(this.#cells, this.#state, this.#now));
  }

  #become(next: BlameState): void {
    const before = this.#state;
    this.#state = next;
    for (const subject of new Set([...before.troubles.keys(), ...next.troubles.keys()])) {
      const trouble = next.troubles.get(subject);
      if (trouble?.trial === undefined) this.#endTrial(subject);
      const problem = blamedFor(trouble);
      if (blamedFor(before.troubles.get(subject)) !== problem)
        this.#options.onChange(subject, problem !== undefined);
    }
    this.#tryWhatIsDue();
    this.#options.onStep();
  }

  #endTrial(subject: Subject): void {
    this.#scopes.get(subject)?.abort(new Error('the trial is over'));
    this.#scopes.delete(subject);
  }

  #tryWhatIsDue(): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    let nextAt = Number.POSITIVE_INFINITY;
    for (const subject of this.#state.troubles.keys()) {
      const { trial, trialAt = nextAt } = this.#state.troubles.get(subject) ?? {};
      if (trial !== undefined) continue;
      if (trialAt <= this.#now) void this.#try(subject);
      else nextAt = Math.min(nextAt, trialAt);
    }
    if (Number.isFinite(nextAt))
      this.#cancelTimer = this.#options.clock.schedule(nextAt - this.#now, () => this.#tryWhatIsDue());
  }

  async #try(subject: Subject): Promise<void> {
    const { onTrial } = this.#options;
    const server =
      subject === 'panel'
        ? NO_SERVER
        : (this.serverWithRoom(subject) ?? trialServer(subject, this.#cells, this.#options.random));
    this.#state = withTrial(this.#state, subject, server ?? NO_SERVER, this.#now);
    const trial = this.#state.troubles.get(subject)?.trial;
    const scope = new AbortController();
    this.#scopes.set(subject, scope);
    // Whoever reported the failure has to finish with it before it tries again.
    await Promise.resolve();
    // A trial that is over was answered by something else.
    const problem = await (server === undefined || trial === undefined || scope.signal.aborted
      ? undefined
      : onTrial(subject, trial, scope.signal).catch(() => undefined));
    if (!scope.signal.aborted) this.#become(afterTrial(this.#state, subject, problem, this.#now));
  }
}

function blamedFor(trouble: Trouble | undefined): Problem | undefined {
  return trouble?.blamedAt === undefined ? undefined : trouble.problem;
}
