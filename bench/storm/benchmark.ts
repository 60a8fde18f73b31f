// The benchmark `storm`: the minute in which everything fails at once.

import type { Benchmark, BenchmarkOptions } from '../report/benchmark.ts';
import { type Fleet, type Played, play, type StormClient } from './play.ts';
import { describeFleet, reportStorm } from './report.ts';
import { SCENES, type Scene } from './scenes.ts';

const DEFAULT_SERVERS = [2_000, 10_000];
const TIGHT_LIMIT = 240;
const DEFAULT_SECONDS = 120;
const CLIENTS: readonly StormClient[] = ['exporter', 'bare client'];

export const storm: Benchmark = {
  name: 'storm',
  title: 'the minute in which everything fails at once: the exporter, and then a bare client that reconnects',
  run: async (options) => {
    if (process.platform !== 'linux') throw new Error('storm reads /proc, so it runs only on Linux');
    const { runs = 1, seconds = DEFAULT_SECONDS, profiles, progress } = options;
    const played: Played[] = [];
    for (const fleet of fleetsOf(options)) {
      for (const scene of scenesOf(options)) {
        for (const client of clientsOf(scene, options)) {
          for (let run = 1; run <= runs; run += 1) {
            progress(`${describeFleet(fleet)}: ${scene.title}, ${client}, run ${run} of ${runs}`);
            played.push(await play(fleet, scene, client, { seconds, profiles }));
          }
        }
      }
    }
    return reportStorm(played);
  },
};

function fleetsOf({ servers, tls, limit }: BenchmarkOptions): readonly Fleet[] {
  const sizes = servers === undefined ? DEFAULT_SERVERS : [servers];
  const links = tls === undefined ? [false, true] : [tls];
  const limits = limit === undefined ? [undefined, TIGHT_LIMIT] : [limit === 'none' ? undefined : limit];
  return sizes.flatMap((count) =>
    links.flatMap((isTls) => limits.map((perMinute) => ({ servers: count, tls: isTls, limit: perMinute }))),
  );
}

function scenesOf({ scenes }: BenchmarkOptions): readonly Scene[] {
  if (scenes === undefined) return SCENES;
  return scenes.map((name) => {
    const found = SCENES.find((scene) => scene.name === name);
    if (found !== undefined) return found;
    throw new Error(
      `unknown scene "${name}"; expected one of ${SCENES.map((scene) => scene.name).join(', ')}`,
    );
  });
}

function clientsOf({ isExporters }: Scene, { baseline = true }: BenchmarkOptions): readonly StormClient[] {
  return CLIENTS.filter((client) => client === 'exporter' || (baseline && isExporters !== true));
}
