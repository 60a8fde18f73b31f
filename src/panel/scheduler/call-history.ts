/** The running calls, and the counts of the last minute for the rules. */
import { type Call, isConnect, type Started } from './call.ts';
import { SlidingWindow, WINDOW_MS } from './sliding-window.ts';
import { FIRST_CONNECT_MS, isOfLists, TOKEN_CALLS } from './start-rules.ts';

/** A running call. */
export interface RunningCall extends Started {
  readonly token: TokenCall | undefined;
}

/** A credential call, and the latest time at which the panel may have received it: its end. */
interface TokenCall {
  at: number;
  isUnderWay: boolean;
  isRejected: boolean;
}

export class CallHistory {
  readonly running = new Set<RunningCall>();
  readonly trials = new SlidingWindow();
  readonly lists = new SlidingWindow();
  readonly others = new SlidingWindow();
  /** When a poll of a node last got a response; absent if a later poll got none. */
  readonly respondedAt = new Map<string, number>();
  /** The last credential calls by server, in the order of the calls. */
  readonly #tokens = new Map<string, readonly TokenCall[]>();
  /** First connects by node and server, in the order of their starts. */
  readonly #connecting = new Map<string, Map<string, number>>();
  readonly #nodeOfConnect = new Map<string, string>();
  /** Nodes on which a server has streamed since the last outage of their sockets. */
  readonly #streamed = new Set<string>();

  tokensAt = (server: string): readonly number[] => this.#tokens.get(server)?.map(({ at }) => at) ?? [];

  isTokenUnderWay = (server: string): boolean => this.#tokens.get(server)?.at(-1)?.isUnderWay === true;

  connecting = (node: string): readonly number[] => [...(this.#connecting.get(node)?.values() ?? [])];

  hasStreamed = (node: string): boolean => this.#streamed.has(node);

  started(call: Call, isTrial: boolean, now: number): RunningCall {
    if (isTrial) this.trials.add(now);
    if (isOfLists(call.path)) this.lists.add(now);
    if (!isConnect(call) && call.tries() === undefined) this.others.add(now);
    this.#connects(call, now);
    const token = isConnect(call) ? this.#tokenCalled(call.server, now) : undefined;
    const running: RunningCall = { call, startedAt: now, token };
    this.running.add(running);
    return running;
  }

  /**
   * `isRejected` means that the panel rejected the API key, and therefore didn't count the call.
   */
  ended(running: RunningCall, isRejected: boolean, now: number): void {
    this.running.delete(running);
    const { token } = running;
    if (token === undefined) return;
    token.at = now;
    token.isUnderWay = false;
    token.isRejected = isRejected;
  }

  /** Notes the end of a poll of the node, with or without a response of the panel. */
  polled(node: string, startedAt: number, hasResponse: boolean, now: number): void {
    if (hasResponse) this.respondedAt.set(node, now);
    else if (startedAt > (this.respondedAt.get(node) ?? 0)) this.respondedAt.delete(node);
  }

  /**
   * Notes the end of the server's attempt to connect. Returns its node if that was a first connect.
   */
  connectEnded(server: string): string | undefined {
    const node = this.#nodeOfConnect.get(server);
    if (node === undefined) return undefined;
    this.#nodeOfConnect.delete(server);
    const ofNode = this.#connecting.get(node);
    ofNode?.delete(server);
    if (ofNode?.size === 0) this.#connecting.delete(node);
    return node;
  }

  streamed(node: string, streams: boolean): void {
    if (streams) this.#streamed.add(node);
    else this.#streamed.delete(node);
  }

  /** Clears rejections and failures of the previous API key. */
  keyChanged(): void {
    this.trials.clear();
    this.lists.clear();
    for (const [server, calls] of this.#tokens)
      this.#tokens.set(
        server,
        calls.filter(({ isRejected }) => !isRejected),
      );
  }

  /** Forgets nodes without servers. */
  keepNodes(nodes: ReadonlySet<string | undefined>): void {
    for (const node of this.respondedAt.keys()) if (!nodes.has(node)) this.respondedAt.delete(node);
    for (const node of this.#streamed) if (!nodes.has(node)) this.#streamed.delete(node);
    for (const [node, servers] of this.#connecting)
      if (!nodes.has(node)) for (const server of servers.keys()) this.connectEnded(server);
  }

  #connects(call: Call, now: number): void {
    const node = call.node();
    if (!isConnect(call) || call.isRenewal === true || node === undefined || this.#streamed.has(node)) return;
    this.connectEnded(call.server);
    const ofNode = this.#connecting.get(node) ?? new Map<string, number>();
    this.#connecting.set(node, ofNode.set(call.server, now));
    this.#nodeOfConnect.set(call.server, node);
    // A trial of the path opens no socket, so no session reports its end. It is dropped after 3 s.
    for (const [server, at] of ofNode) {
      if (at + FIRST_CONNECT_MS > now) break;
      this.connectEnded(server);
    }
  }

  #tokenCalled(server: string, now: number): TokenCall {
    const token = { at: now, isUnderWay: true, isRejected: false };
    const before = this.#tokens.get(server) ?? [];
    this.#tokens.delete(server);
    this.#tokens.set(server, [...before, token].slice(-TOKEN_CALLS));
    for (const [old, calls] of this.#tokens) {
      if ((calls.at(-1)?.at ?? 0) > now - WINDOW_MS) break;
      this.#tokens.delete(old);
    }
    return token;
  }
}
