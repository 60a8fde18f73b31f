import { gauge, ofServers, perServer, secondsToFullDisk, share, unless, whereAlso } from '../promql.ts';

/** Something that a server needs a person for. */
interface Problem {
  /** What is wrong; `$1` stands for the value of the label in `of`. */
  readonly words: string;
  readonly of?: string;
  /** A series for each server that has it. */
  readonly servers: string;
}

const DOWN = perServer(ofServers('gameserver_state', 'state=~"offline|stopped|stopping"'));
const BLOCKED = perServer(ofServers('gameserver_blocked'), 'reason');

/** Most urgent first: what players notice, then what they are about to notice, then what may be meant so. */
const PROBLEMS: readonly Problem[] = [
  {
    words: 'should run, but is off',
    servers: whereAlso(`${DOWN} == 1`, `${gauge('gameserver_expected_running')} == 1`),
  },
  {
    words: 'stopped by itself within the last hour',
    servers: `${perServer(`increase(${ofServers('gameserver_unexpected_stops_total')}[1h])`)} > 0`,
  },
  { words: 'disk used to 95 % or more', servers: `${share('disk')} >= 0.95` },
  { words: 'memory used to 95 % or more', servers: `${share('memory')} >= 0.95` },
  { words: 'disk full within a day at this pace', servers: `${secondsToFullDisk()} < 86400` },
  {
    words: 'CPU used to 95 % or more over the last five minutes',
    servers: `${perServer(`avg_over_time(${ofServers('gameserver_cpu_usage_cores')}[5m])`)} / ${gauge('gameserver_cpu_limit_cores')} >= 0.95`,
  },
  {
    words: 'no data',
    servers: unless(`${gauge('gameserver_collection_up')} == 0`, BLOCKED),
  },
  { words: 'blocked: $1', of: 'reason', servers: BLOCKED },
];

/** Ranks up to this one are red, those up to the next are orange. */
export const URGENT = 2;
export const SOON = 6;

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
