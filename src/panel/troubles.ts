import type { Cancel, Clock } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import {
  type Asked,
  afterPanel,
  afterTrial,
  type BlameState,
  blame,
  CHANNELS,
  type Channel,
  CONSOLES,
  NO_SERVER,
  NO_TROUBLES,
  type Outcome,
  type Outcomes,
  pathOf,
  pollsOf,
  problemOfTrouble,
  type Subject,
  socketsOf,
  type Trial,
  type Trouble,
  trialServer,
  withTrial,
} from './blame.ts';

export interface TroublesOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Tries the subject by this server; the result comes by `tried`. */
  readonly onTrial: (subject: Subject, trial: Trial) => void;
  /** A subject is blamed, or no longer, or for another problem. */
  readonly onChange: (subject: Subject, trouble: Trouble | undefined) => void;
}

/** The last outcomes of a panel's servers, and who is in trouble according to them; starts the trials that are due. */
export class Troubles {
  readonly #options: TroublesOptions;
  readonly #outcomes = emptyOutcomes();
  #asked: Asked = Object.fromEntries(CHANNELS.map((channel) => [channel, new Map()])) as unknown as Asked;
  #state: BlameState = NO_TROUBLES;
  #cancelTimer: Cancel = () => undefined;
  #isStopped = false;

  constructor(options: TroublesOptions) {
    this.#options = options;
  }

  get all(): ReadonlyMap<Subject, Trouble> {
    return this.#state.troubles;
  }

  get outcomes(): Outcomes {
    return this.#outcomes;
  }

  get asked(): Asked {
    return this.#asked;
  }

  /** The problem of a subject that is blamed. */
  problemOf(subject: Subject): Problem | undefined {
    const trouble = this.all.get(subject);
    return trouble?.blamedAt === undefined ? undefined : problemOfTrouble(subject, trouble);
  }

  /** Forgets servers that are no longer asked. */
  setAsked(asked: Asked): void {
    this.#asked = asked;
    this.forget((channel, server) => !asked[channel].has(server) && server !== NO_SERVER);
  }

  /** Forgets these outcomes, and the troubles that nothing shows any more. */
  forget(isMeant: (channel: Channel, server: string, outcome: Outcome) => boolean): void {
    for (const channel of CHANNELS) {
      const outcomes = this.#outcomes[channel];
      for (const [server, outcome] of outcomes)
        if (isMeant(channel, server, outcome)) outcomes.delete(server);
    }
    if (this.all.size > 0) this.judge();
  }

  /** Ends the troubles that are meant; what still fails begins them again. */
  end(isMeant: (subject: Subject) => boolean): void {
    const troubles = new Map([...this.all].filter(([subject]) => !isMeant(subject)));
    this.#become({ ...this.#state, troubles });
  }

  /** The panel as a whole was in trouble until now, which explains the failures before. */
  panelIsBack(): void {
    this.#become(afterPanel(this.#state, this.#now));
  }

  /** A call or a socket of a server ended, or began to stream. */
  record(channel: Channel, server: string, outcome: Omit<Outcome, 'at' | 'node'>): void {
    const node = this.#asked[channel].get(server)?.node;
    this.#outcomes[channel].set(server, { ...outcome, node, at: this.#now });
    // In a fleet without trouble, a success changes nothing.
    if (outcome.problem !== undefined || this.#concerns(channel, node)) this.judge();
  }

  /** A socket that streamed was closed without a problem. */
  withdraw(channel: Channel, server: string): void {
    if (this.#outcomes[channel].get(server)?.streams === true) this.#outcomes[channel].delete(server);
  }

  /** The trial of a subject ended: it failed with this problem, or showed nothing. A success is recorded as an outcome. */
  tried(subject: Subject, problem: Problem | undefined): void {
    this.#become(afterTrial(this.#state, subject, problem, this.#now));
  }

  /** The trial only starts now: the next comes a gap after this. */
  trialStarts(subject: Subject): void {
    const server = this.all.get(subject)?.trial?.server;
    if (server !== undefined) this.#state = withTrial(this.#state, subject, server, this.#now);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  #concerns(channel: Channel, node: string | undefined): boolean {
    if (this.all.size === 0) return false;
    const ofNode = node === undefined ? [] : [socketsOf(node), pollsOf(node)];
    const subjects = [...(channel === 'sockets' ? [] : [pathOf(channel)]), CONSOLES, ...ofNode];
    return subjects.some((subject) => this.all.has(subject as Subject));
  }

  /** Decides who is in trouble, because a success elsewhere may complete what a failure shows. */
  judge(): void {
    this.#become(blame({ outcomes: this.#outcomes, asked: this.#asked }, this.#state, this.#now));
  }

  #become(next: BlameState): void {
    const before = this.#state.troubles;
    this.#state = next;
    for (const subject of new Set([...before.keys(), ...next.troubles.keys()])) {
      const [was, is] = [before, next.troubles].map((troubles) => blamed(troubles.get(subject)));
      if (was?.problem !== is?.problem) this.#options.onChange(subject, is);
    }
    this.#tryWhatIsDue();
  }

  #tryWhatIsDue(): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    const evidence = { outcomes: this.#outcomes, asked: this.#asked };
    let nextAt = Number.POSITIVE_INFINITY;
    const begun: (readonly [Subject, Trial])[] = [];
    for (const [subject, { trial, trialAt }] of this.all) {
      if (trial !== undefined) continue;
      if (trialAt > this.#now) {
        nextAt = Math.min(nextAt, trialAt);
        continue;
      }
      const server = trialServer(subject, evidence, this.#options.random);
      this.#state = withTrial(this.#state, subject, server ?? NO_SERVER, this.#now);
      const chosen = this.all.get(subject)?.trial;
      if (server !== undefined && chosen !== undefined) begun.push([subject, chosen]);
      else this.#state = afterTrial(this.#state, subject, undefined, this.#now);
    }
    if (Number.isFinite(nextAt))
      this.#cancelTimer = this.#options.clock.schedule(nextAt - this.#now, () => this.#tryWhatIsDue());
    for (const [subject, trial] of begun) this.#options.onTrial(subject, trial);
  }
}

function blamed(trouble: Trouble | undefined): Trouble | undefined {
  return trouble?.blamedAt === undefined ? undefined : trouble;
}

function emptyOutcomes(): Record<Channel, Map<string, Outcome>> {
  return {
    listing: new Map(),
    websocket: new Map(),
    resources: new Map(),
    backups: new Map(),
    schedules: new Map(),
    sockets: new Map(),
  };
}
