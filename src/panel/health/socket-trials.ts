/** The servers that were chosen to try their nodes' sockets, until they have. */
import { untilAborted } from '../../domain/waits.ts';
import type { Subject } from '../subjects.ts';
import type { RunningTrial } from './trial-call.ts';

/** The trial of a server that was chosen to try its node's sockets. */
export interface SocketTrial {
  readonly subject: Subject;
  /** Whether to use new credentials, because the panel may give another address. */
  readonly isFresh: boolean;
}

export class SocketTrials {
  readonly #over: (server: string) => void;
  readonly #trials = new Map<string, SocketTrial & { readonly ended: () => void }>();

  /** `over` is called with a server whose trial ended before it had tried. */
  constructor(over: (server: string) => void) {
    this.#over = over;
  }

  find(server: string): SocketTrial | undefined {
    return this.#trials.get(server);
  }

  /**
   * Lets the server's session try to connect. `end` rejects if the signal aborts before it has. An
   * earlier trial of the server ends, because the server has moved to another node.
   */
  begin(server: string, { subject, isFresh }: SocketTrial, signal: AbortSignal): RunningTrial {
    let ended: () => void = () => undefined;
    const tried = new Promise<void>((resolve) => {
      ended = resolve;
    });
    const trial = { subject, isFresh, ended };
    this.take(server)();
    this.#trials.set(server, trial);
    const end = untilAborted(tried, signal).finally(() => {
      if (this.#trials.get(server) !== trial) return;
      this.#trials.delete(server);
      this.#over(server);
    });
    return { server, end };
  }

  /**
   * Takes the trial of a server whose socket ended. The returned function must be called once the
   * outcome is recorded.
   */
  take(server: string): () => void {
    const trial = this.#trials.get(server);
    this.#trials.delete(server);
    return trial?.ended ?? (() => undefined);
  }
}
