// The benchmark `rules`: the cost of the shipped rules in a real Prometheus.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { acceleratedRules } from '../../test/support/accelerated-alerting.ts';
import { startPrometheusWith } from '../../test/support/prometheus.ts';
import type { Benchmark } from '../report/benchmark.ts';
import { median } from '../report/statistics.ts';
import { formatNumber } from '../report/table.ts';
import { RulesFleet, SCENES, type Scene } from './fleet.ts';

const DEFAULT_SERVERS = 10_000;
/**
 * Seconds per scene, in the time of the rules: long enough for every alert of an outage to fire.
 */
const DEFAULT_SECONDS = 300;
/** How many times faster than real time the rules run. Each evaluation of a group still has 5 s. */
const FACTOR = 3;
const INTERVAL_MS = 15_000 / FACTOR;
const TARGET_SECONDS = 1;
const RULES = 'deploy/prometheus/rules/gameserver.yml';

interface Group {
  readonly name: string;
  readonly evaluationTime: number;
  readonly lastEvaluation: string;
  readonly rules: readonly {
    readonly name: string;
    readonly query: string;
    readonly evaluationTime: number;
    readonly health: string;
    readonly lastError?: string;
  }[];
}

/** The durations of a group's evaluations during a scene, in seconds. */
interface Durations {
  readonly scene: Scene;
  readonly group: string;
  readonly seconds: readonly number[];
  /** The slowest rules of the slowest evaluation, with their durations. */
  readonly slowest: string;
}

export const rules: Benchmark = {
  name: 'rules',
  title: 'an evaluation of the shipped rules in a real Prometheus',
  run: async ({ servers = DEFAULT_SERVERS, seconds = DEFAULT_SECONDS, progress }) => {
    const fleet = new RulesFleet(servers);
    const exporter = createServer((_request, response) => {
      void fleet.metrics().then((text) => response.end(text));
    });
    await new Promise<void>((resolve) => exporter.listen(0, '127.0.0.1', resolve));
    const { port } = exporter.address() as AddressInfo;
    const prometheus = await startPrometheusWith(
      configuration(port),
      acceleratedRules(await readFile(RULES, 'utf8'), { factor: FACTOR }),
    );
    const all: Durations[] = [];
    const costs: (readonly [scene: Scene, cpuSeconds: number])[] = [];
    try {
      for (const scene of SCENES) {
        progress(scene);
        fleet.begin(scene);
        const before = await cpuSeconds(prometheus.url);
        all.push(...(await watch(prometheus.url, scene, seconds / FACTOR)));
        costs.push([scene, (await cpuSeconds(prometheus.url)) - before]);
        fleet.begin('all up');
        await delay((60 * 1_000) / FACTOR);
      }
    } finally {
      await prometheus.stop();
      exporter.close();
    }
    return {
      method: `${servers} servers, 200 to a node, served to a real Prometheus with the shipped rules; all intervals and ranges are divided by ${FACTOR},
so that a range holds as many samples as in practice. Each scene lasts ${seconds} s of the rules' time. Seconds of an evaluation of a group, of
which there is one every 15 s (problems: 30 s; predictions: a minute; usage: five minutes), on a Prometheus that has minutes of samples: rules whose ranges are hours or
days read more in practice. The processor time is that of the whole Prometheus, scrapes included, per 15 s of
the rules' time: unlike durations, it doesn't depend on what else the machine does.`,
      tables: [
        {
          header: ['scene', 'Prometheus, processor seconds per 15 s'],
          rows: costs.map(([scene, cost]) => [scene, formatNumber((cost / seconds) * 15, 2)]),
        },
        {
          header: ['scene', 'group', 'evaluations', 'median s', 'max s', 'slowest rule'],
          rows: all.map(({ scene, group, seconds: durations, slowest }) => [
            scene,
            group,
            String(durations.length),
            formatNumber(median(durations), 2),
            formatNumber(Math.max(...durations), 2),
            slowest,
          ]),
        },
      ],
      targets: all.map(({ scene, group, seconds: durations }) => ({
        what: `${scene}: ${group}`,
        bound: { kind: 'at most', value: TARGET_SECONDS },
        unit: 's',
        measured: Math.max(...durations),
      })),
    };
  },
};

function configuration(port: number): string {
  return [
    `global: { scrape_interval: ${INTERVAL_MS}ms, scrape_timeout: ${INTERVAL_MS}ms, evaluation_interval: ${INTERVAL_MS}ms }`,
    'rule_files: [rules.yml]',
    'scrape_configs:',
    '  - job_name: gameserver',
    `    static_configs: [{ targets: ["127.0.0.1:${port}"] }]`,
  ].join('\n');
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}

/** Collects the durations of all evaluations during a scene. */
async function watch(url: string, scene: Scene, seconds: number): Promise<readonly Durations[]> {
  const seen = new Map<string, Map<string, Group>>();
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) {
    const response = await fetch(`${url}/api/v1/rules?type=alert&type=record`);
    const { data } = (await response.json()) as { data: { groups: readonly Group[] } };
    for (const group of data.groups) {
      const evaluations = seen.get(group.name) ?? new Map<string, Group>();
      seen.set(group.name, evaluations.set(group.lastEvaluation, group));
      const broken = group.rules.find(({ health }) => health === 'err');
      if (broken !== undefined) throw new Error(`${broken.name}: ${broken.lastError}`);
    }
    await delay(1_000);
  }
  return [...seen].map(([group, evaluations]) => {
    const slowest = [...evaluations.values()].toSorted((a, b) => b.evaluationTime - a.evaluationTime)[0];
    const slow = slowest?.rules.toSorted((a, b) => b.evaluationTime - a.evaluationTime).slice(0, 3) ?? [];
    return {
      scene,
      group,
      seconds: [...evaluations.values()].map(({ evaluationTime }) => evaluationTime),
      slowest: slow.map(({ name, evaluationTime }) => `${name} ${formatNumber(evaluationTime, 2)}`).join(' '),
    };
  });
}
