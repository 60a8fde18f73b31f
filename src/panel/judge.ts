import { CAUSES } from '../diagnosis/causes.ts';
import { type CallEnd, problemOfBlamed, type Verdict, verdictOf } from '../diagnosis/outcome.ts';
import type { Clock } from '../domain/clock.ts';
import { Listeners } from '../domain/listeners.ts';
import type { Problem } from '../domain/problem.ts';
import { API_ENDPOINTS, type ApiEndpoint } from '../domain/telemetry.ts';
import { Canaries, type Canary } from './canaries.ts';
import { type Circuit, problemOfCircuit, subjectsNeeded } from './circuit.ts';
import {
  type CircuitKey,
  CONSOLES,
  type Gate,
  isPath,
  nodeOfKey,
  PANEL,
  pathKey,
  pollsKey,
  socketsKey,
} from './gate.ts';
import { PanelLog, type PanelLogOptions } from './panel-log.ts';

/** Does the panel's API respond and accept the API key? `unknown` until a call has shown it. */
export type PanelHealth = 'unknown' | 'up' | 'down';

/** How a panel is used: how many servers a problem must affect depends on it. */
export interface PanelUse {
  /** `optional` if servers can be monitored without it. */
  readonly listing: 'none' | 'optional' | 'required';
  /** Servers that make calls. */
  readonly servers: number;
  /** The ids of those that need a console. */
  readonly consoles: readonly string[];
  /** The ids of those that may be polled. */
  readonly polled: readonly string[];
  /** How many of the servers are on this node. */
  readonly onNode: (node: string) => number;
  /** Is this the id or the node of a server, even if it makes no calls? What is known of all others is forgotten. */
  readonly knows: (idOrNode: string) => boolean;
}

/** Assumed until the use is known: enough servers that trouble with a single one isn't that of the panel. */
export const UNKNOWN_USE: PanelUse = {
  listing: 'required',
  servers: 3,
  consoles: [],
  polled: [],
  onNode: () => 3,
  knows: () => true,
};

/** The outcome of one call. */
export interface JudgedCall extends Omit<CallEnd, 'cause'> {
  readonly server?: string | undefined;
  readonly node?: string | undefined;
  /** In monotonic milliseconds. */
  readonly startedAt: number;
  /** Undefined on success. */
  readonly problem: Problem | undefined;
}

export interface JudgeOptions extends PanelLogOptions {
  readonly clock: Clock;
  readonly gate: Gate;
  readonly use: () => PanelUse;
  /** One of each kind of call that can show that the panel works. */
  readonly canaries: () => readonly Canary[];
}

/** Calls for servers of so many nodes have to fail if a single node can cause it. */
const NODES_NEEDED = 2;

/** The subject of calls for the server list. */
export const LISTING = 'listing';

/** Decides from the outcomes of calls what is in trouble: the panel, a path, a node, or the account's consoles. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #canaries: Canaries;
  readonly #changes = new Listeners();
  readonly #log: PanelLog;
  /** Servers whose consoles are refused for a reason of their own, which shows nothing about the account. */
  readonly #held = new Set<string>();
  /** When a call last showed that the panel works; undefined before. */
  #provenAt: number | undefined;

  constructor(options: JudgeOptions) {
    this.#options = options;
    this.#log = new PanelLog(options);
    const { clock, gate, canaries } = options;
    this.#canaries = new Canaries({
      clock,
      canaries,
      gate,
      provenAt: () => this.#provenAt ?? Number.NEGATIVE_INFINITY,
    });
    gate.onChange((key, now, before) => this.#circuitChanged(key, now, before));
  }

  get health(): PanelHealth {
    if (this.problem !== undefined) return 'down';
    return this.#provenAt === undefined ? 'unknown' : 'up';
  }

  /** Has a call shown that a panel is at this address? */
  get isProven(): boolean {
    return this.#provenAt !== undefined;
  }

  /** The problem of the panel as a whole, including its API key. */
  get problem(): Problem | undefined {
    return this.#options.gate.problem(PANEL);
  }

  /** The problem of the account that is denied every console. */
  get consoleProblem(): Problem | undefined {
    return this.#options.gate.problem(CONSOLES);
  }

  /** The problems of the paths that fail although the panel works. */
  get pathProblems(): readonly Problem[] {
    return API_ENDPOINTS.map((path) => this.pathProblem(path)).filter((problem) => problem !== undefined);
  }

  /** The problem of a path that fails although the panel works. */
  pathProblem(endpoint: ApiEndpoint): Problem | undefined {
    const circuit = this.#options.gate.circuit(pathKey(endpoint));
    // Servers can be monitored without an optional server list, and discovery reports that it failed.
    if (endpoint === 'listing' && this.#options.use().listing !== 'required') return undefined;
    const isOfPath = circuit.state === 'open' && (this.#provenAt ?? circuit.openedAt) > circuit.openedAt;
    const problem = isOfPath ? this.pathHold(endpoint) : undefined;
    return problem && { ...problem, detail: `${endpoint} calls only: ${problem.detail}` };
  }

  /** Why calls to this path wait, even before it is clear that the panel works otherwise. */
  pathHold(endpoint: ApiEndpoint): Problem | undefined {
    const problem = this.#options.gate.problem(pathKey(endpoint));
    return problem && problemOfBlamed(endpoint, problem);
  }

  /** The problem of the node itself: of its sockets, which is more exact, else of its polls. */
  nodeProblem(node: string): Problem | undefined {
    const { gate } = this.#options;
    const problem = gate.problem(socketsKey(node)) ?? gate.problem(pollsKey(node));
    return problem && problemOfBlamed('node', problem);
  }

  /** Calls the listener when problems may have changed; returns a function that unsubscribes. */
  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** A call ended. */
  ended(call: JudgedCall): void {
    const verdict = verdictOf({ ...call, cause: call.problem?.cause });
    if (verdict.panel === 'works') this.#works();
    else if (verdict.panel !== 'nothing') this.#canaries.doubt(call.startedAt);
    // The panel's problem explains everything that fails meanwhile.
    if (this.problem !== undefined) return;
    this.#notePath(call, verdict);
    this.#noteNode(call, verdict);
    this.#noteConsole(call, verdict);
  }

  /** An attempt to stream the server ended: with success (undefined), with a problem, or without showing anything. */
  socketEnded(server: string, node: string, end: Problem | 'withdrawn' | undefined): void {
    const { gate, use } = this.#options;
    const key = socketsKey(node);
    if (end === undefined) this.#socketsWork(node);
    else if (end === 'withdrawn' || CAUSES[end.cause].scope !== 'node')
      gate.note(key, { type: 'withdrawn', subject: server });
    else this.#fail(key, server, end, subjectsNeeded(use().onNode(node)));
  }

  /** Makes a round of canaries now, or joins the one under way; resolves when it has ended. */
  ask(): Promise<void> {
    return this.#canaries.ask();
  }

  /** Judges a panel of unknown health now; resolves once a call has shown that it works, or its circuit has opened. */
  async verify(): Promise<void> {
    // A single round isn't enough to judge the panel.
    for (let round = 0; round < 2; round += 1) {
      if (this.health !== 'unknown') return;
      await this.#canaries.ask();
    }
  }

  /** Another API key: forgets everything that is held against the panel or the account. */
  keyChanged(): void {
    this.#forget((key, circuit) => !isOfNode(key) || isExplained(key, circuit));
  }

  /** The panel and its nodes are reached in another way: forgets everything that is held against them. */
  accessChanged(): void {
    this.#forget(() => true);
  }

  /** Forgets servers that are gone. */
  forgetUnknown(knows: PanelUse['knows']): void {
    for (const server of this.#held) if (!knows(server)) this.#held.delete(server);
  }

  stop(): void {
    this.#canaries.stop();
  }

  #forget(isMeant: (key: CircuitKey, circuit: Circuit) => boolean): void {
    // A panel that worked is still taken to work.
    if (this.problem !== undefined) this.#provenAt = undefined;
    this.#log.forgetPaths();
    this.#held.clear();
    this.#options.gate.reset(isMeant);
    this.#changes.notify();
  }

  #works(): void {
    const wasUnknown = this.#provenAt === undefined;
    const { clock, gate } = this.#options;
    this.#provenAt = clock.now();
    gate.note(PANEL, { type: 'succeeded' });
    if (this.#log.follow(this) || wasUnknown) this.#changes.notify();
  }

  #notePath({ endpoint, server, node, problem }: JudgedCall, { path, node: nodeSign }: Verdict): void {
    const { gate, use } = this.#options;
    if (path === 'works') gate.note(pathKey(endpoint), { type: 'succeeded' });
    if (path === 'missing' && server !== undefined && problem !== undefined) {
      // A single server may have been deleted; a path that knows none isn't there.
      const asking = endpoint === 'resources' ? use().polled : use().consoles;
      this.#fail(pathKey(endpoint), server, problem, Math.max(2, asking.length));
    }
    if (path !== 'fails' || problem === undefined) return;
    const isOfOneNode = nodeSign === 'fails' && node !== undefined;
    // A node whose sockets fail as well explains why the panel doesn't reach it.
    if (isOfOneNode && endpoint === 'resources' && gate.problem(socketsKey(node)) !== undefined) return;
    // What a single node can cause has to affect several of them.
    const needed = isOfOneNode ? NODES_NEEDED : subjectsNeeded(use().servers);
    if (server === undefined) this.#fail(pathKey(endpoint), LISTING, problem, 1);
    else this.#fail(pathKey(endpoint), server, problem, needed, isOfOneNode ? node : server);
  }

  #noteNode({ endpoint, server, node, problem }: JudgedCall, { node: sign }: Verdict): void {
    if (server === undefined || node === undefined) return;
    const { gate, use } = this.#options;
    const key = endpoint === 'websocket' ? socketsKey(node) : pollsKey(node);
    // A granted token shows only that the panel's own errors for this node are over.
    const isRefuted =
      endpoint === 'websocket' && problem === undefined && isExplained(key, gate.circuit(key));
    if (sign === 'works') gate.note(key, { type: 'succeeded' });
    else if (isRefuted) this.#socketsWork(node);
    if (sign !== 'fails' || problem === undefined || this.#isOfPath(endpoint, problem)) return;
    this.#fail(key, server, problem, subjectsNeeded(use().onNode(node)));
  }

  /** The node is up. Nothing polls servers that stream, so no poll might show that polls work again. */
  #socketsWork(node: string): void {
    const { gate } = this.#options;
    gate.note(socketsKey(node), { type: 'succeeded' });
    gate.note(pollsKey(node), { type: 'doubted' });
  }

  /** Does the path already have a problem that explains this one? */
  #isOfPath(endpoint: ApiEndpoint, problem: Problem): boolean {
    return isUnspecific(problem) && this.#options.gate.problem(pathKey(endpoint)) !== undefined;
  }

  #noteConsole({ endpoint, server, problem }: JudgedCall, { console: sign }: Verdict): void {
    if (endpoint !== 'websocket' || server === undefined) return;
    const { gate, use } = this.#options;
    if (sign === 'works') {
      this.#held.clear();
      gate.note(CONSOLES, { type: 'succeeded' });
    } else if (sign === 'fails' && problem !== undefined) {
      this.#held.delete(server);
      const { consoles } = use();
      const held = consoles.filter((id) => this.#held.has(id)).length;
      // With a single server, it is impossible to tell whether the account or the server is denied.
      this.#fail(CONSOLES, server, problemOfBlamed('consoles', problem), Math.max(2, consoles.length - held));
    } else if (problem !== undefined && isHeldAlone(problem)) this.#held.add(server);
  }

  /** Did it open after the last proof that the panel works? Then the panel's own problem explains it. */
  #isUnproven(key: CircuitKey, circuit: Circuit): boolean {
    const provenAt = this.#provenAt ?? Number.NEGATIVE_INFINITY;
    return key === CONSOLES && circuit.state === 'open' && provenAt < circuit.openedAt;
  }

  #fail(key: CircuitKey, subject: string, problem: Problem, needed: number, group = subject): void {
    const { clock, gate } = this.#options;
    gate.note(key, { type: 'failed', subject, group, problem, now: clock.now(), needed });
  }

  #circuitChanged(key: CircuitKey, now: Circuit, before: Circuit): void {
    const { gate } = this.#options;
    if (now.state === 'open' && before.state !== 'open') {
      // A circuit that opens takes over the problems that it explains.
      if (key === PANEL)
        gate.reset(
          (other, circuit) =>
            isPath(other) || isExplained(other, circuit) || this.#isUnproven(other, circuit),
        );
      if (isPath(key)) gate.reset(isExplained);
    }
    this.#log.follow(this);
    this.#changes.notify();
  }
}

const isOfNode = (key: CircuitKey) => nodeOfKey(key) !== undefined;

/** Can the panel or one of its paths also cause this problem of a node? */
function isUnspecific({ cause }: Problem): boolean {
  return cause === 'node_silent' || CAUSES[cause].scope !== 'node';
}

/** Is this the circuit of a node that opened because of such a problem? */
function isExplained(key: CircuitKey, circuit: Circuit): boolean {
  const problem = problemOfCircuit(circuit);
  return isOfNode(key) && problem !== undefined && isUnspecific(problem);
}

/** A refusal of one server's console that has nothing to do with permissions. */
function isHeldAlone({ cause }: Problem): boolean {
  const { scope, lasting } = CAUSES[cause];
  return scope === 'server' && lasting;
}
