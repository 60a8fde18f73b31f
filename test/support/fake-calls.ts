// A fake panel without HTTP.
import type { Clock } from '../../src/domain/clock.ts';
import type { CauseCode } from '../../src/domain/problems.ts';
import type { ApiEndpoint } from '../../src/domain/telemetry.ts';
import { sleep } from '../../src/domain/waits.ts';
import type { PanelCalls } from '../../src/panel/held-calls.ts';
import type { PanelAnswer } from '../../src/panel/panel-api.ts';
import { PanelError } from '../../src/panel/panel-error.ts';
import type { RequestArguments } from '../../src/panel/requests.ts';
import type { Resources, Responses } from '../../src/panel/responses.ts';
import { sampleOf } from './samples.ts';

/** The panel's reaction to a call. */
export type Outcome =
  | 'success'
  /** A response without data, because the panel can't reach the node. */
  | 'empty'
  /** No response until the call times out. */
  | 'silence'
  /** An error in the panel's own form, or one from a proxy in front of it. */
  | { readonly own: CauseCode; readonly status?: number }
  | { readonly foreign: CauseCode };

/** A call that reached the panel. `server` is empty for the server list. */
export interface FakeCall {
  readonly endpoint: ApiEndpoint;
  readonly server: string;
  readonly at: number;
}

const ANSWER_MS = 60;

const TIMEOUT_MS = 20_000;

const RESOURCES: Resources = {
  sample: sampleOf({ state: 'running', memoryBytes: 7 }),
  suspended: false,
  badFields: 0,
};

/** A panel whose responses the test decides. */
export class FakeCalls implements PanelCalls {
  readonly calls: FakeCall[] = [];
  decide: (endpoint: ApiEndpoint, server: string) => Outcome = () => 'success';
  /** The rate limit in the headers of all responses, and the remaining calls. */
  rate: { readonly limitPerMinute?: number; readonly remaining?: number } = {};
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of calls to this endpoint since this time. */
  count(endpoint: ApiEndpoint, since = 0): number {
    return this.calls.filter((call) => call.endpoint === endpoint && call.at >= since).length;
  }

  async get<Endpoint extends ApiEndpoint>(
    endpoint: Endpoint,
    { id: server = '' }: RequestArguments,
    signal: AbortSignal,
  ): Promise<PanelAnswer<Responses[Endpoint]>> {
    this.calls.push({ endpoint, server, at: this.#clock.now() });
    const outcome = this.decide(endpoint, server);
    await sleep(this.#clock, outcome === 'silence' ? TIMEOUT_MS : ANSWER_MS, signal);
    const detail = `GET ${endpoint} ${server}`.trim();
    if (outcome === 'silence')
      throw new PanelError({ cause: endpoint === 'resources' ? 'node_silent' : 'timeout', detail });
    const value = this.valueOf(endpoint, server);
    if (outcome === 'success') return { value, ...this.rate };
    if (outcome === 'empty') return { value: Object.assign({}, value, { sample: undefined }), ...this.rate };
    if ('own' in outcome)
      throw new PanelError(
        { cause: outcome.own, detail },
        { fromPanel: true, status: outcome.status ?? 403, ...this.rate },
      );
    throw new PanelError({ cause: outcome.foreign, detail }, { status: 502 });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** The response to a successful call. */
  protected valueOf<Endpoint extends ApiEndpoint>(endpoint: Endpoint, server: string): Responses[Endpoint] {
    const values: Partial<Responses> = {
      websocket: { token: `token of ${server}`, socketUrl: `wss://node/${server}`, lifetimeMs: 600_000 },
      resources: RESOURCES,
      listing: { servers: [], totalPages: 1, badEntries: 0 },
      backups: { backups: [], totalPages: 1 },
      schedules: [],
    };
    return values[endpoint] as Responses[Endpoint];
  }
}
