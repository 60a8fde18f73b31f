import { CAUSES } from '../diagnosis/causes.ts';
import { signsOf } from '../diagnosis/outcome.ts';
import type { CauseCode, Problem } from '../domain/problems.ts';
import type { Cancel, Clock } from '../domain/time.ts';
import { sleep, untilAborted } from '../domain/time.ts';
import { PanelError, problemOf } from './api.ts';
import {
  type AskedServer,
  afterTrial,
  type BlameState,
  blame,
  type Cell,
  type Cells,
  CHANNELS,
  type Channel,
  channelOf,
  lastOf,
  NO_SERVER,
  NO_TROUBLES,
  type Outcome,
  type Path,
  pathOf,
  problemOfSubject,
  problemShown,
  type Subject,
  socketsOf,
  type Trial,
  type Trouble,
  trialServer,
  withCheck,
  withTrial,
} from './blame.ts';
import type { Lane } from './lane.ts';
import type { Call } from './start-at.ts';

/** How a panel is used. */
export interface PanelUse {
  /** `optional` if servers can be monitored without the server list. */
  readonly listing: 'none' | 'optional' | 'required';
  /** The servers that are asked for something, by id. */
  readonly asked: Readonly<Record<Exclude<Path, 'listing'>, ReadonlyMap<string, AskedServer>>>;
}

/** A server that failed for this cause works: others may, too. */
export interface Recovery {
  readonly cause: CauseCode;
  readonly node: string | undefined;
}

/** How a server is to try its node's sockets. */
export interface SocketTrial {
  /** With new credentials, because the panel may give another address. */
  readonly isFresh: boolean;
}

export interface TroublesOptions {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly lane: Pick<Lane, 'bringForward' | 'hasTokenRoom' | 'hasTrialRoom' | 'pump'>;
  /** Makes a call that no session asked for; resolves with its error. */
  readonly call: (path: Path, server: string, tries: Subject, signal: AbortSignal) => Promise<unknown>;
  /** This server is to try its node's sockets. */
  readonly onSocketTrial: (server: string) => void;
  /** A subject is blamed, or no longer, or for another problem. */
  readonly onChange: (subject: Subject) => void;
}

/** A server that fails again for the same cause shows little: who is in trouble is decided once for all of them in this time. */
const AGAIN_MS = 250;

/** The kinds of calls that show whether the panel works. */
const CANARIES = ['listing', 'websocket', 'resources'] as const;

/** If a canary takes longer, the next kind is tried as well. */
const NEXT_CANARY_MS = 2_000;

/** The last outcomes of a panel's servers, and who is in trouble according to them; starts the trials that are due. */
export class Troubles {
  /** Servers that were chosen to try their node's sockets, until they have. */
  readonly attempts = new Map<
    string,
    SocketTrial & { readonly subject: Subject; readonly ended: () => void }
  >();
  listing: PanelUse['listing'] = 'required';
  /** When a poll of a node last got a response; absent if one without a response began after that. */
  readonly respondedAt = new Map<string, number>();
  readonly #options: TroublesOptions;
  readonly #cells = Object.fromEntries(
    CHANNELS.map((channel) => [channel, new Map<string, Cell>()]),
  ) as Record<Channel, Map<string, Cell>>;
  /** Trials under way. */
  readonly #scopes = new Map<Subject, AbortController>();
  #state: BlameState = NO_TROUBLES;
  #cancelTimer: Cancel = () => undefined;
  /** Present while it is to be decided who is in trouble. */
  #cancelDecision: Cancel | undefined;
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

  /** The problem of the first of these subjects that is blamed. */
  problemOf(...subjects: readonly Subject[]): Problem | undefined {
    return subjects
      .map((subject) => problemOfSubject(subject, this.#state))
      .find((problem) => problem !== undefined);
  }

  /** A call ended; returns the recovery of its server if it failed before. */
  callEnded(
    call: Call,
    startedAt: number,
    problem: Problem | undefined,
    fromPanel: boolean,
  ): Recovery | undefined {
    const { path, server } = call;
    // If the configuration doesn't use the server list, its failure shows nothing; a success always does.
    if (path === 'listing' && this.listing === 'none' && problem !== undefined) return undefined;
    const node = call.node();
    if (path === 'resources' && node !== undefined) {
      if (fromPanel) this.respondedAt.set(node, this.#now);
      else if (startedAt > (this.respondedAt.get(node) ?? 0)) this.respondedAt.delete(node);
    }
    const signs = signsOf({ endpoint: path, cause: problem?.cause, fromPanel, isProven: this.isKnown });
    // A 429 shows nothing.
    if (Object.values(signs).every((sign) => sign === undefined)) return undefined;
    const before = this.#cells[path].get(server)?.last?.problem;
    this.#record(path, server, { startedAt, problem, signs });
    return before === undefined || problem !== undefined ? undefined : { cause: before.cause, node };
  }

  /** The server's attempt to stream ended, or its socket; the outcome is undefined if it shows nothing. */
  socketEnded(server: string, outcome: Omit<Outcome, 'at'> | undefined): void {
    // The failure that raises a suspicion is no trial of it.
    const attempt = this.attempts.get(server);
    this.attempts.delete(server);
    if (outcome !== undefined) this.#record('sockets', server, outcome);
    attempt?.ended();
  }

  /** Servers that are no longer asked are forgotten. */
  setUse({ listing, asked: onPaths }: PanelUse): void {
    this.listing = listing;
    const asked = { ...onPaths, listing: new Map([[NO_SERVER, {}]]), sockets: onPaths.websocket };
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
  #record(channel: Channel, server: string, outcome: Omit<Outcome, 'at'>): void {
    const last = { ...outcome, at: this.#now };
    const isDown = this.#state.troubles.get('panel')?.blamedAt !== undefined;
    if (last.signs.panel === 'works') this.#state = { ...this.#state, provenAt: this.#now };
    const cell = this.#cells[channel].get(server);
    // The panel's problem explains which calls fail meanwhile.
    const isExplained = isDown && channel !== 'sockets' && outcome.problem !== undefined;
    if (cell !== undefined && !isExplained) this.#cells[channel].set(server, { ...cell, last });
    // In a fleet without trouble, a success changes nothing. A socket shows nothing of other nodes, and its failure nothing new of a
    // node in trouble.
    const { troubles } = this.#state;
    const isNodes = troubles.has(socketsOf(cell?.asked.node ?? NO_SERVER));
    const mayEnd = channel === 'sockets' ? isNodes || troubles.has('consoles') : troubles.size > 0;
    const mayBegin = channel !== 'sockets' || !isNodes;
    const isAgain = outcome.problem !== undefined && cell?.last?.problem?.cause === outcome.problem.cause;
    if (!(outcome.problem === undefined ? mayEnd : mayBegin)) return;
    if (isAgain) this.#cancelDecision ??= this.#options.clock.schedule(AGAIN_MS, () => this.#judge());
    else this.#judge();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#cancelDecision?.();
    for (const scope of this.#scopes.values()) scope.abort(new Error('stopped'));
  }

  get #now(): number {
    return this.#options.clock.now();
  }

  /** Decides who is in trouble. */
  #judge(): void {
    this.#cancelDecision?.();
    this.#cancelDecision = undefined;
    this.#become(blame(this.#cells, this.#state, this.#now));
  }

  #become(next: BlameState): void {
    const before = this.#state;
    this.#state = next;
    for (const subject of new Set([...before.troubles.keys(), ...next.troubles.keys()])) {
      const trouble = next.troubles.get(subject);
      if (trouble?.trial === undefined) {
        this.#scopes.get(subject)?.abort(new Error('the trial is over'));
        this.#scopes.delete(subject);
      }
      if (blamedFor(before.troubles.get(subject)) !== blamedFor(trouble)) this.#options.onChange(subject);
    }
    this.#tryWhatIsDue();
    this.#options.lane.pump();
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
    const server =
      subject === 'panel'
        ? NO_SERVER
        : (this.#serverWithRoom(subject) ?? trialServer(subject, this.#cells, this.#options.random));
    this.#state = withTrial(this.#state, subject, server ?? NO_SERVER, this.#now);
    const trial = this.#state.troubles.get(subject)?.trial;
    const scope = new AbortController();
    this.#scopes.set(subject, scope);
    // Whoever reported the failure has to finish with it before it tries again.
    await Promise.resolve();
    // A trial that is over was answered by something else.
    const problem = await (server === undefined || trial === undefined || scope.signal.aborted
      ? undefined
      : this.#problemOfTrial(subject, trial, scope.signal).catch(() => undefined));
    if (!scope.signal.aborted) this.#become(afterTrial(this.#state, subject, problem, this.#now));
  }

  /** Resolves with the problem if the trial failed, with undefined if it showed nothing or its success is recorded. */
  async #problemOfTrial(subject: Subject, trial: Trial, signal: AbortSignal): Promise<Problem | undefined> {
    if (subject === 'panel') return this.#round(signal);
    const channel = channelOf(subject);
    const before = lastOf(channel, trial.server, this.#cells);
    await (channel === 'sockets'
      ? this.#trySocket(subject, trial, signal)
      : this.#options.call(channel, trial.server, subject, signal));
    const last = lastOf(channel, trial.server, this.#cells);
    return last === undefined || last === before ? undefined : problemShown(subject, last);
  }

  /** Resolves once the server's session has tried to connect. */
  async #trySocket(subject: Subject, { server, isFresh }: Trial, signal: AbortSignal): Promise<void> {
    const { lane, onSocketTrial } = this.#options;
    const tried = new Promise<void>((ended) => {
      // A call for a token must not delay the trials of other nodes, of which most take none.
      this.attempts.set(server, { subject, isFresh: isFresh && lane.hasTrialRoom, ended });
    });
    const attempt = this.attempts.get(server);
    onSocketTrial(server);
    lane.bringForward(server);
    try {
      await untilAborted(tried, signal);
    } finally {
      if (this.attempts.get(server) === attempt) this.attempts.delete(server);
    }
  }

  /**
   * Asks one kind of call after the other until one succeeds, each round another server and beginning with another kind. Resolves
   * with the problem if all of them failed.
   */
  async #round(signal: AbortSignal): Promise<Problem | undefined> {
    const { trials = 0, blamedAt } = this.#state.troubles.get('panel') ?? {};
    const isListingUsed = this.listing !== 'none' || trials === 0;
    const used = CANARIES.filter((path) => (path === 'listing' ? isListingUsed : this.#cells[path].size > 0));
    const canaries: Promise<Problem | 'unused' | undefined>[] = [];
    for (const offset of used.keys()) {
      const canary = this.#canary(used[(trials + offset) % used.length] ?? 'listing', signal);
      canaries.push(canary);
      const shown = await Promise.race([canary, sleep(this.#options.clock, NEXT_CANARY_MS, signal)]);
      // A key that each kind was refused is still refused if one is.
      if (blamedAt !== undefined && typeof shown === 'object' && CAUSES[shown.cause].scope === 'key')
        return shown;
    }
    const shown = (await Promise.all(canaries)).filter((outcome) => outcome !== 'unused');
    const problems = shown.filter((outcome) => outcome !== undefined);
    // A call that showed nothing, such as one that was answered with 429, may have been one that works.
    if (problems.length < shown.length) return undefined;
    return problems.find(mayBeOfKey) ?? problems[0];
  }

  /** Resolves with the problem if that may be the panel's. */
  async #canary(path: Path, signal: AbortSignal): Promise<Problem | 'unused' | undefined> {
    const server = path === 'listing' ? NO_SERVER : this.#serverWithRoom(pathOf(path));
    if (server === undefined) return 'unused';
    const error = await this.#options.call(path, server, 'panel', signal);
    if (path === 'listing' && this.listing === 'none') return 'unused';
    if (error === undefined) return undefined;
    const problem = problemOf(error);
    const fromPanel = error instanceof PanelError && error.fromPanel;
    // If the server list is missing as well, the panel is; without it, the server may have been deleted.
    const isProven = this.isKnown && this.listing === 'none';
    const sign = signsOf({ endpoint: path, cause: problem.cause, fromPanel, isProven }).panel;
    return sign === 'fails' ? problem : undefined;
  }

  /** The server that tries the subject at once; undefined if there is none. */
  #serverWithRoom(subject: Subject): string | undefined {
    const { lane, random } = this.#options;
    const channel = channelOf(subject);
    const hasRoom = (server: string) => channel !== 'websocket' || lane.hasTokenRoom(server);
    if (this.isKnown) return trialServer(subject, this.#cells, random, hasRoom);
    // Before any success, a 404 isn't about the server.
    const untried = [...this.#cells[channel]].map(([server, { asked }]) => [server, { asked }] as const);
    return trialServer(subject, { ...this.#cells, [channel]: new Map(untried) }, random, hasRoom);
  }
}

/** A refused key shows that it is a panel, whatever else it responds. */
function mayBeOfKey({ cause }: Problem): boolean {
  return CAUSES[cause].scope === 'key' || cause === 'unauthorized';
}

function blamedFor(trouble: Trouble | undefined): Problem | undefined {
  return trouble?.blamedAt === undefined ? undefined : trouble.problem;
}
