// Problems of rate limits and server lists, which only doctor reports.
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import type { NameProxy } from '../../support/name-proxy.ts';

/** A panel and the proxy in front of it. */
export interface DoctorSetting {
  readonly panel: Simulator;
  readonly proxy: NameProxy;
}

/** A problem during which the exporter still works. */
export interface DoctorRow {
  readonly name: string;
  readonly cause: CauseCode;
  /** The severity in doctor's report. */
  readonly result: 'warning' | 'failed';
  readonly panel?: SimulatorOptions;
  /** Additional lines of the panel's entry in the configuration. */
  readonly settings?: readonly string[];
  /** The `discover` settings, if the servers come from the server list. */
  readonly discover?: string;
  /** Causes the fault. */
  readonly arrange: (setting: DoctorSetting) => void;
  /** Ends the fault. */
  readonly lift: (setting: DoctorSetting) => void;
}

/** UUIDs with the same first 8 characters. */
const TWINS = ['a1a1a1a1-0000-4000-8000-000000000001', 'a1a1a1a1-0000-4000-8000-000000000002'] as const;

const LIMIT_HEADER = 'x-ratelimit-limit';

const asGiven = ({ proxy }: DoctorSetting) => {
  proxy.rewrite = (headers) => headers;
};

export const DOCTOR_ROWS: readonly DoctorRow[] = [
  {
    name: 'a proxy that removes the rate limit from responses',
    cause: 'limit_unknown',
    result: 'warning',
    arrange: ({ proxy }) => {
      proxy.rewrite = (headers) => {
        const { [LIMIT_HEADER]: _, ...others } = headers;
        return others;
      };
    },
    lift: asGiven,
  },
  {
    name: "a requests_per_minute above the panel's limit",
    cause: 'pinned_too_high',
    result: 'warning',
    settings: ['requests_per_minute: 1000'],
    arrange: ({ panel }) => panel.set({ rateLimitPerMinute: 240 }),
    lift: ({ panel }) => panel.set({ rateLimitPerMinute: 1_000 }),
  },
  {
    name: 'an account that can see no servers',
    cause: 'nothing_listed',
    result: 'failed',
    panel: { servers: [{ name: "somebody else's", owned: false }] },
    discover: 'type: owner',
    arrange: () => undefined,
    lift: ({ panel }) => void panel.addServer({ name: 'survival' }),
  },
  {
    name: 'rules of discover that exclude every server',
    cause: 'all_excluded',
    result: 'failed',
    panel: { servers: [{ name: 'lobby' }] },
    discover: 'include: { name: [survival] }',
    arrange: () => undefined,
    lift: ({ panel }) => void panel.addServer({ name: 'survival' }),
  },
  {
    name: 'a server list that is refused to a key that servers accept',
    cause: 'listing_refused',
    result: 'failed',
    settings: ['discover: true'],
    arrange: ({ panel }) => panel.failRest({ kind: 'refuse', status: 403, endpoint: 'listing' }),
    lift: ({ panel }) => panel.clearFaults(),
  },
  {
    name: 'a server list with more servers than discover.max_servers',
    cause: 'listing_too_long',
    result: 'warning',
    panel: { servers: 3 },
    discover: 'max_servers: 2',
    arrange: () => undefined,
    lift: ({ panel }) => panel.servers.slice(0, 1).forEach(({ uuid }) => panel.deleteServer(uuid)),
  },
  {
    name: 'two servers whose UUIDs start with the same 8 characters',
    cause: 'same_identifier',
    result: 'warning',
    panel: { servers: TWINS.map((uuid, n) => ({ name: `twin-${n}`, uuid })) },
    discover: 'type: owner',
    arrange: () => undefined,
    lift: ({ panel }) => panel.deleteServer(TWINS[1]),
  },
];
