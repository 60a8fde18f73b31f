// A panel's health, with outcomes of calls and sockets that a test sets.
import { type Signs, socketSigns } from '../../src/diagnosis/signs.ts';
import type { CauseCode } from '../../src/domain/problems.ts';
import { Health, type HealthChange, type PanelUse } from '../../src/panel/health/health.ts';
import type { TrialCall } from '../../src/panel/health/trial-call.ts';
import {
  type Path,
  pathSubject,
  pollsSubject,
  type Subject,
  socketsSubject,
} from '../../src/panel/subjects.ts';
import { deferred } from './deferred.ts';
import { ManualClock } from './manual-clock.ts';

export const SERVERS = ['a', 'b', 'c', 'd'];

/** A call that the health has requested. */
interface Asked extends TrialCall {
  readonly server: string;
  readonly signal: AbortSignal;
  readonly end: (error?: unknown) => void;
}

export interface HealthSetup {
  readonly servers?: readonly string[];
  readonly nodeFor?: (server: string) => string | undefined;
  readonly listing?: PanelUse['listing'];
  /** Whether calls can start at all. */
  readonly enqueues?: boolean;
  /** Whether time passes with each reading of the clock, as in a busy program. */
  readonly isMoving?: boolean;
}

/**
 * The health of a panel without any outcome so far. By default, it has four servers on one node,
 * and no server list.
 */
export function healthOf({
  servers = SERVERS,
  nodeFor = () => 'n1',
  listing = 'none',
  enqueues = true,
  isMoving = false,
}: HealthSetup = {}) {
  const clock = new ManualClock();
  let looks = 0;
  const asked: Asked[] = [];
  const changes: HealthChange[] = [];
  const listeners: ((change: HealthChange) => void)[] = [];
  const health = new Health({
    clock: {
      now: () => clock.now() + (isMoving ? (looks += 1) / 1_000_000 : 0),
      toUnixMs: (at) => clock.toUnixMs(at),
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    },
    random: () => 0,
    enqueue: (call, signal) => {
      const [server] = call.servers;
      if (!enqueues || server === undefined) return undefined;
      if (signal.aborted) return { server, end: Promise.resolve(signal.reason) };
      const end = deferred<unknown>();
      asked.push({ ...call, server, signal, end: (error) => end.resolve(error) });
      return { server, end: end.promise };
    },
    changed: (change) => {
      changes.push(change);
      for (const listener of listeners) listener(change);
    },
  });
  const withNode = (server: string) => ({
    get node() {
      return nodeFor(server);
    },
  });
  const use = (ids: readonly string[]) => {
    const map = new Map(ids.map((server) => [server, withNode(server)]));
    const none = new Map<string, { node: string | undefined }>();
    health.setUse({ listing, asked: { websocket: map, resources: map, backups: none, schedules: none } });
  };
  use(servers);
  const socketEnds = (server: string, cause?: CauseCode, signs: Signs = socketSigns(cause)) =>
    health.socketEnded(server, {
      startedAt: clock.now(),
      problem: cause && { cause, detail: `${cause} of ${server}` },
      signs,
    });
  const callEnds = (path: Path, server: string, cause?: CauseCode, fromPanel = true) => {
    const problem = cause && { cause, detail: `${cause} of ${server}` };
    health.callEnded({ path, server, startedAt: clock.now(), problem, fromPanel });
  };
  return { clock, health, asked, changes, listeners, use, socketEnds, callEnds };
}

export type HealthWorld = ReturnType<typeof healthOf>;

const subjects: readonly Subject[] = [
  'panel',
  'consoles',
  ...(['listing', 'websocket', 'resources'] as const).map(pathSubject),
  ...['n1', 'n2'].flatMap((node) => [socketsSubject(node), pollsSubject(node)]),
];
export const withOutage = ({ health }: HealthWorld) =>
  subjects.filter((subject) => health.outage(subject) !== undefined);
export const blamed = ({ health }: HealthWorld) => subjects.filter((subject) => health.isBlamed(subject));
export const settled = ({ clock }: HealthWorld) => clock.advance(0);
