import type { ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { INFORMATION, PLAIN, TROUBLE, WARNING, wordsFor } from '../appearance.ts';

/** How urgently a person is needed; rows are sorted by these numbers. */
const URGENCIES = {
  1: ['now', TROUBLE],
  2: ['soon', WARNING],
  3: ['look into it', INFORMATION],
} as const;

export type Urgency = keyof typeof URGENCIES;

/** A problem, and what to do about it. */
interface Advice {
  readonly words: string;
  readonly remedy: string;
}

/** Problems that the exporter's diagnosis doesn't cover, because they are visible only in the metrics. */
const OWN = {
  nothing_observed: {
    words: 'no exporter known',
    remedy:
      'Let Prometheus scrape the exporter, and check the data source and the job that are chosen above.',
  },
  exporter_down: {
    words: 'exporter down',
    remedy:
      "Start the exporter and read its log; check Prometheus' scrape address. Nothing is known of its servers until then.",
  },
  shard_missing: {
    words: 'shard missing',
    remedy:
      'Start an exporter for each shard (--shard, --total-shards). Nothing is known of its servers until then.',
  },
  config_refused: {
    words: 'configuration refused',
    remedy: 'Run check on it. The exporter goes on with the one before.',
  },
  gave_up: {
    words: 'crashed; the node gave up',
    remedy: "Read the server's console for the reason, then start it by hand.",
  },
  down: {
    words: 'off, should run',
    remedy: 'Start it in the panel. If it may be off, set expect: any.',
  },
  crash_loop: {
    words: 'crashes again and again',
    remedy:
      "Read the server's console from before the crash; undo the last change of plugins, mods or version.",
  },
  no_data: {
    words: 'no data',
    remedy: "Look it up on the exporter's status page, or run doctor: both name the cause.",
  },
  not_answering: {
    words: 'runs, does not answer',
    remedy:
      'Players may not be able to join: read its console, check address and port of its query, restart it.',
  },
  cpu_saturated: {
    words: 'at its CPU limit',
    remedy: 'Players notice lag: raise the limit, or lower view distance, entities or mods.',
  },
  disk_full: {
    words: 'disk used to 95 % or more',
    remedy:
      'Delete old worlds, logs and backups, or raise the limit: nodes stop a server whose disk is full.',
  },
  disk_filling: {
    words: 'disk full within a day',
    remedy: 'Find out what grows; delete it, or raise the limit.',
  },
  memory_full: {
    words: 'memory used to 95 % or more',
    remedy: 'Raise the limit, or lower what the game may take (such as -Xmx): beyond the limit it is killed.',
  },
  backup_failed: {
    words: 'newest backup failed',
    remedy: "Back it up again in the panel; check the node's disk and the backup storage.",
  },
  crashed: {
    words: 'crashed within the hour',
    remedy: "It may run again by now. The server's console and crash reports say why it crashed.",
  },
} as const satisfies Readonly<Record<string, Advice>>;

/** A problem that only this table covers. */
export type ProblemCode = keyof typeof OWN;

const ADVICE: Readonly<Record<string, Advice>> = {
  ...Object.fromEntries(
    Object.values(CAUSES).map(({ code, title, remedy }) => [code, { words: title, remedy }]),
  ),
  ...OWN,
};

function asWords(of: (advice: Advice) => string): ValueMap {
  return wordsFor(
    Object.fromEntries(Object.entries(ADVICE).map(([code, advice]) => [code, [of(advice), PLAIN]])),
  );
}

export const URGENCY_WORDS = wordsFor(URGENCIES);
/** The text for each problem's code. */
export const PROBLEM_WORDS = asWords(({ words }) => words);
/** What to do about each problem, by its code. */
export const REMEDY_WORDS = asWords(({ remedy }) => remedy);
