import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../src/simulator/api.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { acceleratedRules } from '../support/accelerated-alerting.ts';
import {
  type AlertmanagerUnderTest,
  type NotifiedAlert,
  startAlertmanager,
} from '../support/alertmanager.ts';
import { ensureDebianPackage } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { type ExporterUnderTest, startExporter } from '../support/exporter.ts';
import { type PrometheusUnderTest, startPrometheus } from '../support/prometheus.ts';
import { TestTime } from '../support/test-time.ts';

const RULES = new URL('../../deploy/prometheus/rules/gameserver.yml', import.meta.url);

const hasPrometheus = await ensureDebianPackage('prometheus', 'prometheus');
const hasAlertmanager = await ensureDebianPackage('prometheus-alertmanager', 'prometheus-alertmanager');

/** How much faster than real time the panel and the exporter run. */
const SPEED = 10;

/** Each minute in the ranges and waits of rules and routes is a second. */
const ACCELERATION = { factor: 60, leastMs: 1_000 };

const LINKS = {
  runbooks: 'https://git.example.com/exporter/blob/main',
  grafana: 'https://grafana.example.com',
};

const NAMES = ['survival', 'modded', 'lobby', 'skyblock', 'arena', 'creative'] as const;

/** Alerts about lasting conditions, and about single events: all that may be sent before the panel is unreachable. */
const STATES = ['GameserverCpuSaturated lobby', 'GameserverStopped modded', 'GameserverStopped survival'];
const TROUBLES = [...STATES, 'GameserverCrashed modded'].toSorted();

describe.skipIf(!hasPrometheus || !hasAlertmanager)('from a simulated panel to a webhook', () => {
  const time = new TestTime(SPEED);
  let panel: Simulator;
  let exporter: ExporterUnderTest;
  let alertmanager: AlertmanagerUnderTest;
  let prometheus: PrometheusUnderTest;
  const stops: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    const servers = NAMES.map((name) => ({ name, profile: 'steady' as const }));
    panel = await startSimulator({
      servers,
      startMs: 500,
      stopMs: 200,
      reviveMs: 3_600_000,
      clock: time.clock(),
    });
    stops.unshift(() => panel.stop());
    exporter = await startObserving();
    stops.unshift(() => exporter.stop());
    alertmanager = await startAlertmanager({ ...ACCELERATION, factor: 2 * ACCELERATION.factor });
    stops.unshift(() => alertmanager.stop());
    prometheus = await startPrometheus(new URL(exporter.url).host, [], {
      rules: withLongerWaits(acceleratedRules(linked(await readFile(RULES, 'utf8')), ACCELERATION)),
      alertmanager: alertmanager.authority,
    });
    stops.unshift(() => prometheus.stop());
    await eventually(async () => {
      expect(await prometheus.query('gameserver_state{state="running"} == 1')).toHaveLength(NAMES.length);
    });
  });

  afterAll(async () => {
    for (const stop of stops) await stop();
  });

  it('alerts are sent for a stopped server, a crashed one and one at its CPU limit, and for no other', async () => {
    panel.power('survival', 'stop');
    panel.crash('modded', { code: 1 });
    panel.pin('lobby', { cpuAbsolute: 198 });
    panel.power('skyblock', 'restart');
    panel.power('arena', 'stop');
    await eventually(() => expect([...sentTitles()].toSorted()).toEqual(TROUBLES));
    expect(fires()).toEqual(expect.arrayContaining(STATES));
    const cpu = alerts().find(({ labels }) => labels['alertname'] === 'GameserverCpuSaturated');
    expect(cpu).toMatchObject({
      labels: { job: 'gameserver', panel: 'main', server: 'lobby', game: 'minecraft', severity: 'warning' },
      annotations: {
        summary: 'lobby (main) is at its CPU limit',
        description: expect.stringMatching(/^For [\d.]+% of the last ten minutes\. Raise its/) as string,
        since: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/) as string,
        server_url: `${panel.url}/server/${panel.server('lobby').identifier}`,
        runbook_url: `${LINKS.runbooks}/docs/runbooks/gameserver-cpu-saturated.md`,
        dashboard_url: `${LINKS.grafana}/d/gameserver-server?var-job=gameserver&var-panel=main&var-server=lobby`,
      },
    });
    expect(receiversOf('GameserverStopped')).toEqual(['page']);
    expect(receiversOf('GameserverCpuSaturated')).toEqual(['notify']);
  });

  it('one alert is sent when the panel is unreachable, and none for each server; stopped servers remain stopped', async () => {
    await panel.stopListening();
    await eventually(() => expect(fires()).toContain('GameserverPanelDown'));
    // For longer than it takes until a server without data has an alert.
    await eventually(async () => {
      const away = await prometheus.query('time() - server:gameserver_no_data_since:timestamp_seconds > 15');
      expect(away).toHaveLength(NAMES.length);
    });
    expect(await prometheus.query('gameserver_state{state="unknown"} == 1')).toHaveLength(NAMES.length);
    const known = await alertmanager.alerts();
    const inhibited = known.filter(({ status }) => status.inhibitedBy.length > 0).map(titleOf);
    expect(inhibited).toEqual(expect.arrayContaining(STATES));
    expect([...sentTitles()].toSorted()).toEqual([...TROUBLES, 'GameserverPanelDown'].toSorted());
    expect(fires()).toEqual(expect.arrayContaining(STATES));
  });

  it('the end of each alert is sent once the panel is back and its servers are healthy, and nothing else', async () => {
    for (const name of ['survival', 'modded']) panel.power(name, 'start');
    panel.pin('lobby', undefined);
    await panel.startListening();
    await eventually(() => expect(fires()).toEqual([]));
    await eventually(async () => expect(await alertmanager.alerts()).toEqual([]));
    expect([...sentTitles()].toSorted()).toEqual([...TROUBLES, 'GameserverPanelDown'].toSorted());
    for (const { groupLabels } of alertmanager.notifications) {
      expect(groupLabels).toMatchObject({ job: 'gameserver', panel: 'main' });
    }
  });

  function startObserving(port = 0): Promise<ExporterUnderTest> {
    return startExporter({ yaml: configuration(panel), clock: time.clock(), port });
  }

  const alerts = () => alertmanager.notifications.flatMap((notification) => notification.alerts);

  /** All alerts that were ever sent, each by its name and server. */
  const sentTitles = () => new Set(alerts().map(titleOf));

  /** Those that were last sent as firing, and whose end is sent. */
  function fires(): readonly string[] {
    const lasting = alerts().filter(({ labels }) => labels['alertname'] !== 'GameserverCrashed');
    const last = new Map(lasting.map((alert) => [titleOf(alert), alert.status]));
    return [...last].flatMap(([title, status]) => (status === 'firing' ? title : [])).toSorted();
  }

  function receiversOf(name: string): readonly string[] {
    const own = alertmanager.notifications.filter(({ alerts }) =>
      alerts.some(({ labels }) => labels['alertname'] === name),
    );
    return [...new Set(own.map(({ receiver }) => receiver))];
  }
});

/** The arena may be in any state; the lobby has two cores. */
function configuration(panel: Simulator): string {
  const settings: Partial<Record<(typeof NAMES)[number], string>> = {
    arena: ', expect: any',
    lobby: ', limits: { cpu_cores: 2 }, labels: { game: minecraft }',
  };
  return [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    '    servers:',
    ...NAMES.map(
      (name) => `      - { id: ${panel.server(name).identifier}, name: ${name}${settings[name] ?? ''} }`,
    ),
  ].join('\n');
}

/** The rules with their one setting, the base of the links. */
function linked(rules: string): string {
  return rules
    .replace("runbooks: ''", `runbooks: ${LINKS.runbooks}`)
    .replace("grafana: ''", `grafana: ${LINKS.grafana}`);
}

/**
 * Rules are evaluated each second, of which three minutes have only three: a crash, sent after two, would be inhibited by the
 * page about the server that stays off as soon as one evaluation is late. On a busy machine, the exporter may take more than
 * three seconds to restart.
 */
function withLongerWaits(rules: string): string {
  const longer = { GameserverStopped: '10s', GameserverExporterDown: '15s' };
  return rules.replaceAll(/alert: (\w+)\n(?:(?! +for: ).*\n)* +for: \w+/g, (rule, name: string) => {
    const wait = longer[name as keyof typeof longer];
    return wait === undefined ? rule : rule.replace(/\w+$/, wait);
  });
}

function titleOf({ labels }: Pick<NotifiedAlert, 'labels'>): string {
  return [labels['alertname'], labels['server']].filter((word) => word !== undefined).join(' ');
}
