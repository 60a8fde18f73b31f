import {
  CRASHES,
  expected,
  gauge,
  ofServers,
  perServer,
  secondsToFullDisk,
  share,
  unless,
  whereAlso,
} from '../promql.ts';

/** Something that a server needs a person for. */
interface Problem {
  /** What is wrong; `$1` stands for the value of the label in `of`. */
  readonly words: string;
  readonly of?: string;
  /** A series for each server that has it. */
  readonly servers: string;
}

const DOWN = perServer(ofServers('gameserver_state', 'state=~"offline|stopped|stopping"'));
const FAILED_BACKUP = gauge('gameserver_backup_last_failure_timestamp_seconds');
const BLOCKED = perServer(ofServers('gameserver_blocked'), 'reason');

/** Most urgent first: what players notice, then what they are about to notice, then what may be meant so. */
const PROBLEMS: readonly Problem[] = [
  {
    words: 'should run, but is off',
    servers: whereAlso(`${DOWN} == 1`, `${expected()} == 1`),
  },
  {
    words: 'crashed, and its node no longer restarts it',
    servers: `${gauge('gameserver_automatic_restart_aborted')} == 1`,
  },
  {
    words: 'crashed within the last hour: $1',
    of: 'reason',
    servers: `${perServer(`increase(${ofServers('gameserver_stops_total', CRASHES)}[1h])`, 'reason')} > 0`,
  },
  { words: 'disk used to 95 % or more', servers: `${share('disk')} >= 0.95` },
  { words: 'memory used to 95 % or more', servers: `${share('memory')} >= 0.95` },
  { words: 'disk full within a day at this pace', servers: `${secondsToFullDisk()} < 86400` },
  {
    words: 'at its CPU limit for half of the last ten minutes',
    servers: `${perServer(`increase(${ofServers('gameserver_cpu_saturated_seconds_total')}[10m])`)} > 300`,
  },
  {
    words: 'the newest backup failed',
    servers: unless(
      FAILED_BACKUP,
      `${gauge('gameserver_backup_last_success_timestamp_seconds')} >= ${FAILED_BACKUP}`,
    ),
  },
  {
    words: 'no data',
    servers: unless(`${gauge('gameserver_collection_up')} == 0`, BLOCKED),
  },
  { words: 'blocked: $1', of: 'reason', servers: BLOCKED },
];

/** Ranks up to this one are red, those up to the next are orange. */
export const URGENT = 3;
export const SOON = 8;

/** The most rows that are shown: who has more problems than that has one of another kind. */
const MOST = 50;

/** A series for each server and problem, labelled `problem`; its value is the problem's rank, from 1 on. */
export function needAttention(): string {
  const ranked = PROBLEMS.map(({ words, of = '', servers }, index) => {
    const found = of === '' ? '' : '(.*)';
    return `label_replace(0 * (${servers}) + ${index + 1}, "problem", "${words}", "${of}", "${found}")`;
  });
  return `bottomk(${MOST},\n  ${ranked.join('\n  or ')}\n)`;
}
