// A simulated panel's API without a network. Its gate allows every call.

import type { ApiGate, CallTarget } from '../../src/simulator/api-gate.ts';
import type { ApiHost } from '../../src/simulator/api-host.ts';
import type { clientApi } from '../../src/simulator/client-api.ts';
import { Faults } from '../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../src/simulator/fleet.ts';
import type { SimulatedServer } from '../../src/simulator/simulated-server.ts';
import type { ServerSpec } from '../../src/simulator/simulator-schema.ts';
import {
  initialSettings,
  type SettingsChange,
  type SimulatorSettings,
} from '../../src/simulator/simulator-settings.ts';
import { ManualClock } from './manual-clock.ts';

/** A panel with one server, `survival`, at the address `panel:8080`. */
export class SimulatedPanel implements ApiHost {
  readonly clock = new ManualClock(1_000_000);
  readonly tokenKey = new Uint8Array(32);
  readonly stopped = new AbortController().signal;
  readonly settings: SimulatorSettings;
  readonly fleet: SimulatedFleet;
  readonly survival: SimulatedServer;

  constructor(changes: SettingsChange = {}, spec: Partial<ServerSpec> = {}) {
    this.settings = initialSettings(changes);
    this.fleet = new SimulatedFleet({
      clock: this.clock,
      settings: () => this.settings,
      faults: new Faults(),
      seed: 1,
      statsIntervalMs: 1_000,
    });
    this.survival = this.fleet.add({ name: 'survival', ...spec });
  }

  nodeSocketUrl(node: 0 | 1, reachedAt: string | undefined): string {
    return `wss://node-${node}.of.${reachedAt}`;
  }
}

type MakeApi = typeof clientApi;

/** The API of this panel, to which a test sends requests. */
export class SimulatedApi {
  /** The calls that the gate has handled. */
  readonly passed: CallTarget[] = [];
  readonly #app: ReturnType<MakeApi>;

  constructor(panel: SimulatedPanel, makeApi: MakeApi) {
    const pass: ApiGate['pass'] = async (_context, target, endpoint) => {
      this.passed.push(target);
      const { status, headers, body } = await endpoint();
      return new Response(body, { status, headers });
    };
    this.#app = makeApi(panel, { pass } as unknown as ApiGate);
  }

  /** Sends a request, and returns the status and body of the response. */
  async get(path: string): Promise<readonly [status: number, body: unknown]> {
    const response = await this.#app.request(path, { headers: { host: 'panel:8080' } });
    return [response.status, await response.json()];
  }
}
