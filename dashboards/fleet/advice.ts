import { CAUSES } from '../../src/diagnosis/causes.ts';
import { INFORMATION, TROUBLE, WARNING, wordsFor } from '../appearance.ts';

/** When a problem needs a person; rows are sorted by these numbers. */
const URGENCIES = {
  1: ['now', TROUBLE],
  2: ['soon', WARNING],
  3: ['later', INFORMATION],
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
    words: 'no exporter found',
    remedy:
      'Add the exporter to the scrape configuration of Prometheus; check the data source and job selected above.',
  },
  exporter_down: {
    words: 'exporter down',
    remedy:
      "Start the exporter and read its log; check the target's address in Prometheus. Until then, nothing is known about its servers.",
  },
  shard_missing: {
    words: 'shard missing',
    remedy:
      'Start an exporter for each shard (--shard, --total-shards). Until then, nothing is known about its servers.',
  },
  config_refused: {
    words: 'configuration invalid',
    remedy: 'Run check on the configuration. Until it is valid, the exporter keeps the previous one.',
  },
  gave_up: {
    words: 'crashed; the node gave up',
    remedy: "Read the server's console for the reason, then start the server.",
  },
  down: {
    words: 'down',
    remedy: 'Start the server in the panel. If it may be off, set expect: any.',
  },
  crash_loop: {
    words: 'crash loop',
    remedy: "Read the server's console before the crash; revert the last change of plugins, mods or version.",
  },
  no_data: {
    words: 'no data',
    remedy: "Check the exporter's status page or run doctor: both show the cause.",
  },
  not_answering: {
    words: 'not answering',
    remedy:
      "Players may be unable to join: read the server's console, check the address and port of its query, or restart it.",
  },
  cpu_saturated: {
    words: 'at its CPU limit',
    remedy: 'Players notice lag: raise the limit, or reduce view distance, entities or mods.',
  },
  disk_full: {
    words: 'disk usage 95% or more',
    remedy:
      'Delete old worlds, logs and backups, or raise the limit: the node stops a server when its disk is full.',
  },
  disk_filling: {
    words: 'disk full within a day',
    remedy: 'Find out which files grow; delete them, or raise the limit.',
  },
  memory_full: {
    words: 'memory usage 95% or more',
    remedy:
      "Raise the limit, or lower the game's own limit (such as -Xmx): a server that exceeds its limit is killed.",
  },
  backup_failed: {
    words: 'latest backup failed',
    remedy: "Create a new backup in the panel; check the node's disk and the backup storage.",
  },
  crashed: {
    words: 'crashed in the last hour',
    remedy: "Read the server's console and crash reports for the reason. The server may be running again.",
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

function textsOf(of: (advice: Advice) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(ADVICE).map(([code, advice]) => [code, of(advice)]));
}

export const URGENCY_WORDS = wordsFor(URGENCIES);
/** The name of each problem, by its code. */
export const PROBLEM_TEXTS = textsOf(({ words }) => words);
/** What to do about each problem, by its code. */
export const REMEDY_TEXTS = textsOf(({ remedy }) => remedy);
