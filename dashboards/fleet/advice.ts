import { CAUSES } from '../../src/diagnosis/causes.ts';
import { SERVER_PROBLEMS } from '../../src/diagnosis/server-problems.ts';
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
  no_exporter: {
    words: 'no exporter found',
    remedy:
      'Add the exporter to the scrape configuration of Prometheus; check the data source and job selected above.',
  },
  no_rules: {
    words: 'recording rules not loaded',
    remedy:
      'Load deploy/prometheus/rules/gameserver.yml (rule_files in the configuration of Prometheus). Until then, problems of servers are missing here.',
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
} as const satisfies Readonly<Record<string, Advice>>;

/** A problem of exporters that only this table covers. */
export type ProblemCode = keyof typeof OWN;

const ADVICE: Readonly<Record<string, Advice>> = {
  ...Object.fromEntries(
    Object.values(CAUSES).map(({ code, title, remedy }) => [code, { words: title, remedy }]),
  ),
  ...Object.fromEntries(
    Object.entries(SERVER_PROBLEMS).map(([code, { title, action }]) => [
      code,
      { words: title, remedy: action },
    ]),
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
