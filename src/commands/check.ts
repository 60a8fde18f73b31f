// The command `check`: prints a configuration with its defaults, or what is wrong with it.

import { Command, Option } from 'commander';
import { isLocalHost } from '../addresses/ranges.ts';
import { type Config, DEFAULT_MAX_SERVERS, type PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { describeQuery, describeRule, matchesEveryServer } from '../doctor/rule-texts.ts';
import type { ServerGlobs } from '../domain/listing-settings.ts';
import { EXPECTS } from '../domain/server.ts';
import { formatDuration } from '../text/duration.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { formatIssues } from '../yaml/issues.ts';
import { withoutCredentials } from '../yaml/quoting.ts';
import { invocation, shellWord } from './command-line.ts';
import { readableByAll } from './file-warnings.ts';
import { loadWebFlags, type WebConfigFlag, webConfigOption } from './serve-flags.ts';
import { panelWarnings } from './setting-warnings.ts';

interface CheckFlags extends WebConfigFlag {
  readonly config: string;
  readonly listing?: boolean;
}

/** `check`: shows how a configuration was understood, or everything that is wrong with it. */
export function checkCommand(): Command {
  return new Command('check')
    .description('validate a configuration, and print it with defaults and without secrets')
    .argument('[config]', 'configuration file (default: the value of --config)')
    .option('--config <file>', 'configuration file', 'config.yaml')
    .addOption(new Option('--listing').hideHelp())
    .addOption(webConfigOption())
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter check --config config.yaml
  $ gameserver-exporter check --config config.yaml --web.config.file web.yml

Exit codes: 0 valid · 1 invalid: shows every problem · 2 invalid usage`,
    )
    .action(async (file: string | undefined, options: CheckFlags, command: Command) => {
      const output = command.configureOutput();
      const print = (text: string) => output.writeOut?.(KNOWN_SECRETS.redact(text));
      const complain = (text: string) => output.writeErr?.(KNOWN_SECRETS.redact(text));
      const warn = (text: string) => complain(`warning: ${text}\n`);
      const path = file ?? options.config;
      const doctor = `${invocation()} doctor --config ${shellWord(path)}`;
      if (options.listing === true)
        command.error(`error: check contacts no panel: to count the servers of each rule, run ${doctor}`);
      const web = await loadWebFlags(options);
      const result = await loadConfig(path, process.env);
      if (result.ok) {
        print(`${path} is valid\n\n${describeConfig(result.config)}\n`);
        for (const panel of result.config.panels) {
          for (const warning of panelWarnings(panel)) warn(`${path}: panel ${panel.name}: ${warning}`);
        }
        for (const line of await readableByAll(result.secretFiles)) warn(line);
        print(`\nThe panels were not contacted. To test the panels: ${doctor}\n`);
      } else complain(`${formatIssues(result.issues)}\n`);
      if (web?.ok === false) complain(`${formatIssues(web.issues)}\n`);
      else if (web !== undefined) {
        print(`\n${options['web.config.file']} is valid\n`);
        for (const warning of web.warnings) warn(formatIssues([warning]));
        for (const line of await readableByAll(web.secretFiles)) warn(line);
      }
      process.exitCode = result.ok && web?.ok !== false ? 0 : 1;
    });
}

/** A configuration with defaults filled in and without secrets. */
function describeConfig(config: Config): string {
  const { panels, log, compatibility } = config;
  const rest = [
    ...(compatibility === undefined
      ? []
      : [`compatibility: also serves the metric names of ${compatibility}`]),
    `log: level ${log.level}, format ${log.format}`,
  ];
  return [...panels.map(describePanel), rest.join('\n')].join('\n\n');
}

/** One line of a panel's settings. */
type CheckRow = readonly [label: string, text: string];

function describePanel(panel: PanelConfig): string {
  const rows = settingRows(panel);
  const width = Math.max(...rows.map(([label]) => label.length));
  return [`panel ${panel.name}`, ...rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`)].join(
    '\n',
  );
}

function settingRows(panel: PanelConfig): readonly CheckRow[] {
  const { tls, proxyUrl, socketHosts, queryHosts, requestsPerMinute: rate, servers, listing } = panel;
  const row = (label: string, text: string | undefined): readonly CheckRow[] =>
    text === undefined ? [] : [[label, text]];
  const every = (settings: { readonly intervalMs: number } | undefined) =>
    settings && `every ${formatDuration(settings.intervalMs)}`;
  const lists = ['backups', 'schedules', 'nodes'] as const;
  const expectations = EXPECTS.flatMap((wanted) => {
    const { length } = servers.filter(({ expect }) => expect === wanted);
    return length === 0 ? [] : `${wanted} ${length}`;
  });
  return [
    ['url', panel.url],
    ['origin', panel.origin],
    ['API key', panel.apiKeySource],
    ['API budget', rate === undefined ? "80 % of the panel's rate limit" : `${rate} calls per minute`],
    ['poll interval', formatDuration(panel.pollIntervalMs)],
    ['staleness', formatDuration(panel.stalenessMs)],
    ['timeouts', describeTimeouts(panel)],
    ['socket hosts', socketHosts?.join(', ') ?? anyHost(panel.url)],
    ...row('query hosts', queryHosts?.join(', ')),
    ['proxy', proxyUrl === undefined ? 'from the environment' : withoutCredentials(proxyUrl)],
    ...row('TLS', tls && describeTls(tls)),
    ...(listing === undefined ? [] : listingRows(listing)),
    ...lists.flatMap((list) => row(list, every(panel[list]))),
    ...row('insecure', panel.allowInsecure ? 'http and ws allowed to any host' : undefined),
    [
      'servers',
      servers.length === 0 ? 'all are discovered' : `${servers.length}: expect ${expectations.join(', ')}`,
    ],
  ];
}

function listingRows({
  discover,
  type,
  intervalMs,
}: NonNullable<PanelConfig['listing']>): readonly CheckRow[] {
  const every = `every ${formatDuration(intervalMs)}`;
  if (discover === undefined) return [['server list', `${every}, for node, egg and limits`]];
  const { include, exclude, expect, query = [], labels, mode, maxServers } = discover;
  const globRows = (label: string, globs: ServerGlobs) =>
    Object.entries(globs).map(([key, some]): CheckRow => [label, `${key} ${some.join(' or ')}`]);
  const labelRows = labels.map(({ match, labels: own }, index) => {
    const text = Object.entries(own).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const isForAll = labels.length === 1 && Object.keys(match).length === 0;
    const shown = text.join(', ') || 'none';
    return ['  labels', isForAll ? shown : describeRule(shown, match, index)] as const;
  });
  return [
    ['discover', `${WHOSE[type ?? 'any']}, ${every}`],
    ...globRows('  include', include),
    ...globRows('  exclude', exclude),
    ...expect.map(({ match, state }, index): CheckRow => ['  expect', describeRule(state, match, index)]),
    ...(expect.some(matchesEveryServer)
      ? []
      : [['  expect', describeRule('auto', {}, expect.length)] as const]),
    ...query.map(
      (rule, index): CheckRow => ['  query', describeRule(describeQuery(rule.query), rule.match, index)],
    ),
    ...(mode === 'auto' ? [] : [['  mode', mode] as const]),
    ...(maxServers === DEFAULT_MAX_SERVERS ? [] : [['  max_servers', String(maxServers)] as const]),
    ...labelRows,
  ];
}

const WHOSE = {
  any: 'servers that the account can access',
  owner: 'servers that the account owns',
  admin: "servers of other users, which the account sees only because it is an administrator's",
  'admin-all': 'all servers of the panel',
};

function describeTimeouts(panel: PanelConfig): string {
  const timeouts = [
    ['request', panel.requestTimeoutMs],
    ['connect', panel.connectTimeoutMs],
    ['auth', panel.authTimeoutMs],
  ] as const;
  return timeouts.map(([name, durationMs]) => `${name} ${formatDuration(durationMs)}`).join(', ');
}

function describeTls({ ca, cert, serverName, insecureSkipVerify }: NonNullable<PanelConfig['tls']>): string {
  const parts = [
    ca && 'custom CA',
    cert && 'client certificate',
    serverName && `server name ${serverName}`,
    insecureSkipVerify && 'certificates not verified',
  ];
  return parts.filter(Boolean).join(', ') || 'defaults';
}

/** The hosts that sockets may be opened to if the configuration has none. */
function anyHost(panelUrl: string): string {
  return isLocalHost(new URL(panelUrl).hostname)
    ? 'any host that the panel returns, including this machine'
    : 'any public host that the panel returns';
}
