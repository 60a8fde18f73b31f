import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { OLD_BACKUP_SECONDS } from '../../../dashboards/server/runs.ts';
import { CAUSES, shortTitle } from '../../../src/diagnosis/causes.ts';
import { codesSeenBy } from '../../../src/diagnosis/server-problems.ts';
import { BLOCKED_REASONS } from '../../../src/domain/server.ts';
import {
  CPU_SATURATED_SHARE,
  LOADING_SECONDS,
  LOOP_CRASHES,
  LOOP_SECONDS,
  LOOP_STOPS,
  SATURATED_FROM,
} from '../../../src/domain/thresholds.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../../src/metrics/families.ts';
import { expectFile } from '../../support/generated.ts';
import { OUTAGE_ADVICE } from '../../support/outage-advice.ts';
import { SELF_FAMILIES } from '../../support/self-families.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PROMETHEUS = join(ROOT, 'deploy/prometheus');

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleTest {
  readonly eval_time: string;
  readonly alertname: string;
  readonly exp_alerts: readonly { readonly exp_labels: { readonly severity: string } }[];
}

const rulesIn = (folder: string) =>
  inFolder(folder).flatMap((file) =>
    (read(file) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap((group) => group.rules),
  );
const rules = rulesIn('rules');
/** The severity of an alert about one server, which depends on the server's label. */
const BY_IMPORTANCE = '{{ if eq $labels.importance "high" }}critical{{ else }}warning{{ end }}';
const alerts = rules.flatMap(({ alert, labels, annotations, expr }) => {
  const severity = labels?.['severity'] ?? '';
  const severities = severity === BY_IMPORTANCE ? ['critical', 'warning'] : [severity];
  return alert === undefined
    ? []
    : severities.map((one) => ({ name: alert, severity: one, annotations, expr }));
});
const names = new Set(alerts.map(({ name }) => name));
/** Alerts about a single server. Only these are critical for important servers alone. */
const OF_A_SERVER_THAT_IS_DOWN = ['AutomaticRestartAborted', 'NotAnswering', 'Stopped', 'StopsRepeatedly'];
const records = new Set(rules.flatMap(({ record }) => record ?? []));
const dashboards = readdirSync(join(ROOT, 'deploy/grafana/dashboards')).map(
  (file) => (read(join(ROOT, 'deploy/grafana/dashboards', file)) as { uid: string }).uid,
);
const ruleTests = inFolder('tests')
  .filter((file) => !file.endsWith('/simple.yml'))
  .flatMap((file) =>
    (read(file) as { tests: readonly { alert_rule_test?: readonly RuleTest[] }[] }).tests.flatMap(
      (one) => one.alert_rule_test ?? [],
    ),
  );

test.each(alerts)('$name ($severity) is tested both firing and not firing', ({ name, severity }) => {
  const own = ruleTests.filter(({ alertname }) => alertname === name);
  const firing = own.filter(({ exp_alerts }) =>
    exp_alerts.some(({ exp_labels }) => exp_labels.severity === severity),
  );
  expect(firing.length, 'tests in which it fires').toBeGreaterThan(0);
  expect(own.length - firing.length, "tests in which it doesn't").toBeGreaterThan(0);
});

test('critical is for panel, key, node, exporter, many, and an important server that is down', () => {
  const critical = (isByImportance: boolean) =>
    rules
      .filter(({ labels }) => labels?.['severity'] === (isByImportance ? BY_IMPORTANCE : 'critical'))
      .map(({ alert = '' }) => alert.replace('Gameserver', ''));
  expect(critical(true).toSorted()).toEqual(OF_A_SERVER_THAT_IS_DOWN);
  expect(critical(false).toSorted()).toEqual([
    'ExporterDown',
    'ManyCrashed',
    'ManyStopped',
    'NodeDown',
    'NodePartlyDown',
    'PanelDown',
    'PanelKeyRefused',
    'ShardMissing',
  ]);
});

test('every test is about an existing alert', () => {
  expect(ruleTests.map(({ alertname }) => alertname).filter((name) => !names.has(name))).toEqual([]);
});

test.each(alerts)(
  '$name ($severity) names its subject and the time, and links to its runbook',
  ({ name, severity, annotations }) => {
    expect(['critical', 'warning', 'info']).toContain(severity);
    const { summary, runbook_url: link = '', dashboard_url: dashboard = '' } = annotations ?? {};
    expect(summary).toMatch(/\$labels\.(?:server|panel|job|instance) /);
    const time = annotations?.['since'] ?? annotations?.['at'] ?? '';
    expect(time).toMatch(/ UTC(?:\{\{ end \}\})?$/);
    expect(annotations?.['unix_time']).toBe(
      time.replace('.UTC.Format "2006-01-02 15:04:05" }} UTC', '.Unix }}'),
    );
    // The text is in the past tense, and says what works again.
    expect(annotations?.['resolved']).toMatch(/ and |, and /);
    const runbook = pathAfter(link, 'runbooks');
    expect(runbook).toMatch(/^docs\/runbooks\/[a-z-]+\.md$/);
    expect(dashboards).toContain(/^d\/([\w-]+)\?/.exec(pathAfter(dashboard, 'grafana'))?.[1]);
    expect(readFileSync(join(ROOT, runbook), 'utf8').split('\n')[0], 'its title').toBe(`# ${name}`);
  },
);

/**
 * Alerts whose conditions only the rules know, and how many seconds earlier the condition may have
 * begun: half of the range of an average, or the part of the range after which the limit is
 * exceeded. All other alerts know the time from a metric.
 */
const BEGAN_BEFORE: Readonly<Record<string, number>> = {
  // Half of ten minutes.
  CpuSaturated: 300,
  // Half of five minutes.
  MemoryNearLimit: 150,
  // A fifth of 15 minutes.
  PanelRateLimited: 180,
  // Half of the ten minutes in which each socket reconnects more than once.
  SocketsChurning: 300,
  DiskFilling: 0,
  NodeFull: 0,
  NotStreaming: 0,
  PlayersLost: 0,
  ShardMissing: 0,
};

test('an alert is as old as what happened, or as its condition if only the rules know that', () => {
  const measured = alerts.flatMap(({ name, annotations }) => {
    const time = annotations?.['since'] ?? annotations?.['at'] ?? '';
    // An exporter was last up at its last scrape, unless Prometheus never scraped it.
    const [, before = '0'] =
      /^\{\{ with query \(printf "ALERTS_FOR_STATE\{[^}]*\}(?: - (\d+))?"/.exec(time) ?? [];
    expect(time.includes('ALERTS_FOR_STATE'), name).toBe(
      /"ALERTS_FOR_STATE|or on \(\) ALERTS_FOR/.test(time),
    );
    return time.startsWith('{{ with query (printf "ALERTS_FOR_STATE')
      ? [[name.replace('Gameserver', ''), Number(before)] as const]
      : [];
  });
  expect(Object.fromEntries(measured)).toEqual(BEGAN_BEFORE);
});

// Prometheus also expands the texts of pending alerts, with several queries for each.
test.each(['Crashed', 'NoData', 'Stopped'])(
  'Gameserver%s, which all servers may have at once until one alert replaces them, is never pending',
  (name) => {
    expect(rules.filter(({ alert }) => alert === `Gameserver${name}`).map((rule) => rule.for)).toEqual([
      undefined,
    ]);
  },
);

test('the simple file gives the same advice as the rules', () => {
  const advice = (folder: string) =>
    rulesIn(folder).map(({ annotations }) => annotations?.['description'] ?? '');
  const remedies = rules.map(({ labels }) => labels?.['remedy'] ?? '');
  const known = [...advice('rules'), ...remedies].join(' ');
  // Without the parts that a template inserts.
  const sentences = advice('simple').flatMap((text) =>
    text.replaceAll(/\{\{.*?\}\}/g, '\n').split(/\n+|(?<=\.) (?=[A-Z])/),
  );
  expect(sentences.length).toBeGreaterThan(10);
  expect(sentences.filter((sentence) => sentence !== '' && !known.includes(sentence.trim()))).toEqual([]);
});

test('the rules contain what every cause is, and what to do about it in one sentence', () => {
  const file = 'deploy/prometheus/rules/gameserver.yml';
  const lines = Object.values(CAUSES)
    .filter(({ code, scope }) => scope !== 'server' || BLOCKED_REASONS.some((reason) => reason === code))
    .map(({ code, remedy }) => {
      const [sentence = ''] = remedy.split(/(?<=\.) (?=[A-Z])/, 1);
      const labels = {
        cause: code,
        title: shortTitle(code),
        remedy: OUTAGE_ADVICE[code] ?? sentence.replaceAll('this machine', "the exporter's machine"),
      };
      return `      - { record: 'gameserver:cause:info', expr: vector(1), labels: ${JSON.stringify(labels)} }\n`;
    });
  const section = /(?<=# begin causes\n)[^]*(?= {6}# end causes)/;
  const text = readFileSync(join(ROOT, file), 'utf8');
  expect(text).toMatch(section);
  expectFile(
    file,
    text.replace(section, () => lines.join('')),
  );
});

test('every runbook belongs to an alert, and every alert is in the list of runbooks', () => {
  const pages = readdirSync(join(ROOT, 'docs/runbooks'));
  const linked = alerts.map(({ annotations }) => pageOf(annotations));
  expect(new Set(linked)).toEqual(new Set(pages));
  const list = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8');
  for (const { name, severity, annotations } of alerts) {
    const page = pageOf(annotations);
    expect(list, 'docs/alerts.md').toMatch(
      new RegExp(`\\| \\[${name}\\]\\(runbooks/${page}\\) \\|.*\\b${severity}\\b`),
    );
  }
});

test('the rules use only metrics of the exporter, of its process, of Prometheus, or recorded ones', () => {
  const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES, ...SELF_FAMILIES];
  const prometheus = ['up', 'ALERTS', 'ALERTS_FOR_STATE', 'process_start_time_seconds'];
  const known = new Set([...families.map(({ name }) => name), ...records, ...prometheus]);
  const named = rules.flatMap(({ expr }) => metricsIn(expr));
  expect(named.length).toBeGreaterThan(rules.length);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});

test('every recorded series is used by a rule or documented in docs/metrics.md', () => {
  const page = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8');
  for (const record of records) {
    const users = rules.filter(
      (rule) =>
        (rule.record !== record && metricsIn(rule.expr).includes(record)) ||
        Object.values(rule.annotations ?? {}).some((text) => text.includes(record)),
    );
    expect(users.length > 0 || page.includes(`| \`${record}\` |`), record).toBe(true);
  }
});

test('the simple file uses only metrics of the exporter and of Prometheus', () => {
  const families = [...SERVER_FAMILIES, ...PANEL_FAMILIES].map(({ name }) => name);
  for (const { expr } of rulesIn('simple'))
    expect(['up', ...families]).toEqual(expect.arrayContaining([...metricsIn(expr)]));
});

test('the rules record the problems that the dashboards and the page name, and no other', () => {
  const recorded = rules.filter(({ record }) => record === 'server:gameserver_problem:bool');
  const codes = recorded.map(({ labels }) => labels?.['problem'] ?? 'reason');
  expect(new Set(codes)).toEqual(new Set([...codesSeenBy('rules'), 'reason']));
});

test.each([
  ['server:gameserver_repeated_stops:last', `[${LOOP_SECONDS / 3_600}h]`],
  ['server:gameserver_repeated_stops:last', `>= ${LOOP_CRASHES}\n`],
  ['server:gameserver_repeated_stops:last', `>= ${LOOP_STOPS}\n`],
  ['server:gameserver_disk_filling:last_ratio', `server:gameserver_disk_usage:ratio >= ${SATURATED_FROM}\n`],
  ['server:gameserver_memory_near_limit:last_ratio', `> ${SATURATED_FROM}\n`],
  ['GameserverCpuSaturated', `server:gameserver_cpu_saturated:last_ratio > ${CPU_SATURATED_SHARE})`],
  ['server:gameserver_problem:bool cpu_saturated', `> ${CPU_SATURATED_SHARE})`],
  ['server:gameserver_problem:bool disk_nearly_full', `>= ${SATURATED_FROM})`],
  ['server:gameserver_problem:bool not_answering', `<= time() - ${LOADING_SECONDS}\n`],
  ['GameserverBackupOld', `< time() - ${OLD_BACKUP_SECONDS / 86_400} * 86400)`],
])('%s has the threshold of the status page and the dashboards: %j', (name, threshold) => {
  const [series, problem] = name.split(' ');
  const rule = rules.find(
    ({ alert, record, labels }) => (record ?? alert) === series && labels?.['problem'] === problem,
  );
  expect(rule?.expr).toContain(threshold);
});

test('rules query ALERTS only for existing alerts: an alert for itself, a recording rule for any', () => {
  for (const { alert, record, expr } of rules) {
    const asked = [...expr.matchAll(/ALERTS\{alertname="(\w+)"/g)].map(([, name = '']) => name);
    if (record === undefined) expect([...new Set(asked)].filter((name) => name !== alert)).toEqual([]);
    else expect(asked.filter((name) => !names.has(name))).toEqual([]);
  }
});

test('one rule sets the base addresses of links, which are empty by default', () => {
  const links = rules.find(({ record }) => record === 'gameserver:links:info');
  expect(links?.labels).toEqual({ runbooks: '', grafana: '' });
});

/**
 * The path in a link after its base address. The address comes from the rule with links, and from
 * this label. Without it, the link is empty.
 */
function pathAfter(link: string, label: string): string {
  const address = `{{ range query "gameserver:links:info{${label}!=''}" }}{{ .Labels.${label} }}/`;
  expect(link.startsWith(address), `${link} begins with ${address}`).toBe(true);
  expect(link.endsWith('{{ end }}'), `${link} is empty without an address`).toBe(true);
  return link.slice(address.length, -'{{ end }}'.length);
}

/** The file name of the runbook. */
function pageOf(annotations: Rule['annotations']): string | undefined {
  return pathAfter(annotations?.['runbook_url'] ?? '', 'runbooks')
    .split('/')
    .at(-1);
}

/**
 * The series in an expression: all of its words that aren't labels, functions, keywords or strings.
 */
function metricsIn(expr: string): readonly string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\{[^}]*\}/g, ' ')
    .replaceAll(/\b(?:on|by|without|ignoring|group_left|group_right)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\[\w+\]|\boffset \w+/g, ' ');
  const words = bare.matchAll(/(?<![\w:.])[a-zA-Z_][\w:]*(?![\w:]|\s*\()/g);
  return [...words].map(([word]) => word).filter((word) => !['and', 'or', 'unless', 'bool'].includes(word));
}

function inFolder(folder: string): readonly string[] {
  return readdirSync(join(PROMETHEUS, folder)).map((file) => join(PROMETHEUS, folder, file));
}

function read(file: string): unknown {
  return parse(readFileSync(file, 'utf8'));
}
