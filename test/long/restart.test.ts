import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { hasProgram } from '../support/has-program.ts';
import type { RunningProcess } from '../support/process.ts';
import { configFile, endPrograms, type Metrics, metricsAt, runProgram } from '../support/program.ts';
import { type PrometheusUnderTest, rulesEverySecond, startPrometheus } from '../support/prometheus.ts';
import { testRestart } from '../support/restart-scenes.ts';

describe('over a kill of the exporter', () => {
  testRestart('SIGKILL');
});

/** Alerts that fire before the restart. Further alerts of the same servers fire, too. */
const FIRING = ['GameserverAutomaticRestartAborted: given up', 'GameserverStopped: stopped'];

describe.skipIf(!hasProgram('prometheus'))('a real Prometheus with the shipped rules', () => {
  let panel: Simulator;
  let prometheus: PrometheusUnderTest;
  let file: string;
  let port: number;
  let program: RunningProcess;
  let metrics: Metrics;

  beforeAll(async () => {
    const names = ['given up', 'stopped', 'running', 'stopped meanwhile', 'allowed to be off'];
    panel = await startSimulator({
      servers: names.map((name) => ({ name, profile: 'steady' })),
      rateLimitPerMinute: 6_000,
      reviveMs: 200,
      startMs: 200,
      stopMs: 100,
    });
    const yaml = [
      'panels:',
      `  - { name: main, url: "${panel.url}", api_key: ${panel.apiKey}, discover: true, requests_per_minute: 6000 }`,
    ];
    file = await configFile(yaml.join('\n'));
    port = await freePort();
    prometheus = await startPrometheus(`127.0.0.1:${port}`, [], {
      rules: rulesEverySecond(),
      alertmanager: '127.0.0.1:1',
    });
    await start();
    for (const name of names) await metrics.until('gameserver_expected_running', { server: name }, [1]);
    await scraped('gameserver_stops_total{server="given up", reason="crashed"} == 0');
    for (const crashes of [1, 2]) {
      await metrics.until('gameserver_state', { server: 'given up', state: 'running' }, [1]);
      panel.crash('given up', { code: 1 });
      await metrics.until('gameserver_stops_total', { server: 'given up', reason: 'crashed' }, [crashes]);
    }
    panel.crash('stopped', undefined);
    panel.power('allowed to be off', 'stop');
    await eventually(async () => expect(await firing()).toEqual(expect.arrayContaining(FIRING)));
    // This server is also off, which is another alert. Alertmanager inhibits it.
    await scraped('ALERTS{alertname="GameserverStopped", server="given up", alertstate="firing"}');
  });

  afterAll(async () => {
    await endPrograms();
    await prometheus.stop();
    await panel.stop();
  });

  async function start(): Promise<void> {
    const storage = ['--storage.path', join(dirname(file), 'data')];
    const listen = ['--web.listen-address', `127.0.0.1:${port}`];
    program = runProgram(['serve', '--config', file, ...listen, ...storage]);
    const [, url = ''] = await program.printed(/serving metrics on (http:\S+)\/metrics/);
    metrics = metricsAt(url);
  }

  const query = async (expression: string) =>
    (await prometheus.query(expression)).map(({ labels, value }) => `${labels['server']} ${value}`);

  const now = async () => (await prometheus.query('vector(time())'))[0]?.value ?? Number.NaN;

  /** The alerts about servers that fire, or that fired within a range. */
  const firing = async (over = '', range = '') => {
    const alerts = `${over}(ALERTS{alertstate="firing", server!=""}${range})`;
    const found = await prometheus.query(`group by (alertname, server) (${alerts})`);
    return found.map(({ labels }) => `${labels['alertname']}: ${labels['server']}`).toSorted();
  };

  const scraped = (expression: string) =>
    eventually(async () => expect(await query(expression), expression).not.toEqual([]));

  it('has the same alerts before, during and after a restart, and increase() finds only what happened', async () => {
    const counted = (of: string) =>
      query(
        `sum by (server) (round(increase(gameserver_${of}_total{server!="stopped meanwhile"}[15m]))) > 0`,
      );
    const sorted = async (of: string) => (await counted(of)).toSorted();
    const [stops, starts] = [await sorted('stops'), await sorted('starts')];
    expect(stops).toEqual(['allowed to be off 1', 'given up 2', 'stopped 1']);
    const before = await firing();
    expect(before).toEqual(expect.arrayContaining(FIRING));
    const endedAt = await now();
    program.kill('SIGTERM');
    await program.ended;
    panel.crash('stopped meanwhile', undefined);
    await start();
    await scraped('increase(gameserver_stops_total{server="stopped meanwhile", reason="unknown"}[1m]) > 0');
    // The alerts after a minute of evaluations since the restart.
    await scraped('time() - process_start_time_seconds{job="gameserver"} > 60');
    expect(await sorted('stops')).toEqual(stops);
    expect(await sorted('starts')).toEqual(starts);
    expect(
      await query(
        'round(increase(gameserver_stops_total{server="stopped meanwhile", reason="unknown"}[15m]))',
      ),
    ).toEqual(['stopped meanwhile 1']);
    const since = `[${Math.floor((await now()) - endedAt)}s:1s]`;
    expect(await firing('last_over_time', since)).toEqual(before);
    for (const alert of before) {
      const [name, server] = alert.split(': ');
      const gap = `max_over_time(absent(ALERTS{alertname="${name}", server="${server}", alertstate="firing"})${since})`;
      expect(await query(gap), gap).toEqual([]);
    }
  });

  it('fires for a server that stopped meanwhile, as if the exporter had seen it', () =>
    eventually(async () => {
      const alert = 'ALERTS{alertname="GameserverStopped", server="stopped meanwhile", alertstate="firing"}';
      expect(await query(alert)).toEqual(['stopped meanwhile 1']);
    }));
});
