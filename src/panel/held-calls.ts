/** Makes the calls that a panel's fleet requests, each when nothing holds it. */
import type { Clock } from '../domain/clock.ts';
import type { CallMaker } from './call-maker.ts';
import type { Health } from './health/health.ts';
import type { ListOfNode } from './node-polls.ts';
import type { PanelApi } from './panel-api.ts';
import { asAddressProblem, isThrottled } from './panel-error.ts';
import type { PanelRate } from './panel-rate.ts';
import type { RequestArguments, ServerAddress } from './requests.ts';
import type { Call } from './scheduler/call.ts';
import { isOfConsole } from './scheduler/rate-limit.ts';
import type { Scheduler } from './scheduler/scheduler.ts';
import { NO_SERVER, type Path } from './subjects.ts';

/** The API calls that a gateway makes. */
export type PanelCalls = Pick<PanelApi, 'get' | 'close'> &
  Partial<Pick<PanelApi, 'hasResourcesOfNode' | 'resourcesOfNode'>>;

/** How a session requests one call for a server. */
export interface Ask extends Pick<Call, 'deadline' | 'isRetry' | 'isRenewal'> {
  /**
   * A list that was requested before this instant is older than the known data about the server.
   */
  readonly usefulFrom?: number;
}

export interface HeldCallsOptions {
  readonly clock: Clock;
  readonly api: Pick<PanelCalls, 'resourcesOfNode'>;
  readonly health: Pick<Health, 'isKnown' | 'outage' | 'check' | 'socketTrial' | 'asked'>;
  readonly scheduler: Pick<Scheduler, 'run' | 'polled'>;
  readonly calls: Pick<CallMaker, 'make'>;
  readonly rate: Pick<PanelRate, 'learnFrom'>;
}

export class HeldCalls {
  readonly #options: HeldCallsOptions;

  constructor(options: HeldCallsOptions) {
    this.#options = options;
  }

  /** Makes the call once nothing holds it. */
  async run<P extends Path>(path: P, what: RequestArguments, ask: Ask, signal: AbortSignal) {
    // The first call is a canary: it checks the address and the key, and reveals the limit.
    if (!this.#options.health.isKnown && this.#options.health.outage('panel') === undefined)
      this.#options.health.check();
    // A session that was chosen for a trial tries its node with its own call.
    const tries = () =>
      path === 'websocket' ? this.#options.health.socketTrial(what.id ?? '')?.subject : undefined;
    try {
      return await this.#throughPauses(path, () => this.start(path, what, { ...ask, tries }, signal));
    } catch (error) {
      // In the meantime, other calls may have shown that the address is right.
      throw this.#options.health.isKnown ? error : asAddressProblem(error);
    }
  }

  /** Makes the call, and repeats it after each pause that the panel demands. */
  async #throughPauses<T>(path: Path, start: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await start();
      } catch (error) {
        if (!isThrottled(error) || isOfConsole(path, error.limitPerMinute)) throw error;
      }
    }
  }

  /** Makes one call once nothing holds it. */
  start<P extends Path>(
    path: P,
    what: RequestArguments,
    ask: Ask & Pick<Call, 'tries'>,
    signal: AbortSignal,
  ) {
    const call = this.#call(path, what.id, ask);
    return this.#options.scheduler.run(call, signal, (scope) => this.#options.calls.make(call, what, scope));
  }

  #call<P extends Path>(path: P, server: string = NO_SERVER, ask: Ask & Pick<Call, 'tries'>) {
    const node = () => this.#options.health.asked(path, server)?.node;
    return { path, server, node, ...ask };
  }

  /**
   * Requests the resources of all servers on this server's node. A failure shows nothing about the
   * server, whose own request follows.
   */
  list({ id, nodeId = '' }: ServerAddress, deadline: number, signal: AbortSignal): Promise<ListOfNode> {
    const call = this.#call('resources', id, { deadline, tries: () => undefined });
    return this.#throughPauses('resources', () =>
      this.#options.scheduler.run(call, signal, async (scope) => {
        const requestedAt = this.#options.clock.now();
        const asked = this.#options.api.resourcesOfNode?.(nodeId, scope);
        if (asked === undefined) throw new Error('the panel lists no resources of nodes');
        let hasResponse = false;
        try {
          const { value: resources } = await this.#options.rate.learnFrom(call, asked, scope);
          hasResponse = true;
          return { requestedAt, resources };
        } finally {
          const node = call.node();
          if (node !== undefined) this.#options.scheduler.polled(node, requestedAt, hasResponse);
        }
      }),
    );
  }
}
