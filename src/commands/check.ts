import { Command, Option } from 'commander';
import type { Config, PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { describeQuery, describeRule, matchesEveryServer } from '../config/rule-words.ts';
import { DEFAULT_MAX_SERVERS } from '../domain/discovery.ts';
import { formatDuration } from '../domain/durations.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { countExpectations, type Limit, type ServerTarget } from '../domain/server.ts';
import { isLocalHost } from '../domain/special-addresses.ts';
import { formatIssues } from '../yaml/issues.ts';
import { withoutCredentials } from '../yaml/scalars.ts';
import { panelWarnings, readableByAll } from './check-warnings.ts';
import { neededPerMinute } from './fleet-needs.ts';
import { invocation, shellWord } from './invocation.ts';
import { loadWebFlags, type WebConfigFlag, webConfigOption } from './serve-flags.ts';
import { type Cells, columns, indent } from './text-table.ts';

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
      const path = file ?? options.config;
      if (options.listing === true) {
        const doctor = `${invocation()} doctor --config ${shellWord(path)}`;
        command.error(`error: check contacts no panel: to count the servers of each rule, run ${doctor}`);
      }
      const webFile = options['web.config.file'] ?? '';
      const web = await loadWebFlags(options);
      const result = await loadConfig(path, process.env);
      if (result.ok) {
        const described = describeConfig(result.config);
        print(`${path} is valid\n\n${described}\n`);
        for (const panel of result.config.panels) {
          for (const warning of panelWarnings(panel)) {
            complain(warningLine(`${path}: panel ${panel.name}: ${warning}`));
          }
        }
        for (const line of await readableByAll(result.secretFiles)) complain(warningLine(line));
        const doctor = `${invocation()} doctor --config ${shellWord(path)}`;
        print(`\nThe panels were not contacted. To test the panels: ${doctor}\n`);
      } else complain(`${formatIssues(result.issues)}\n`);
      if (web?.ok === true) print(`\n${webFile} is valid\n`);
      if (web?.ok === false) complain(`${formatIssues(web.issues)}\n`);
      if (web?.ok === true) {
        for (const warning of web.warnings) complain(warningLine(formatIssues([warning])));
        for (const line of await readableByAll(web.secretFiles)) complain(warningLine(line));
      }
      process.exitCode = result.ok && web?.ok !== false ? 0 : 1;
    });
}

/** A line on stderr that is recognized as a warning: the configuration is valid nevertheless. */
function warningLine(text: string): string {
  return `warning: ${text}\n`;
}

/** A configuration in text and tables, with defaults filled in and without secrets. */
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

function describePanel(panel: PanelConfig): string {
  return [
    `panel ${panel.name}`,
    indent(columns(settingRows(panel))),
    '',
    indent(columns(serverRows(panel))),
  ].join('\n');
}

function settingRows(panel: PanelConfig): readonly Cells[] {
  const { tls, proxyUrl, socketHosts, requestsPerMinute: rate } = panel;
  return [
    ['url', panel.url],
    ['origin', panel.origin],
    ['API key', panel.apiKeySource],
    ['API budget', rate === undefined ? "80 % of the panel's rate limit" : `${rate} calls per minute`],
    ...needsRow(panel),
    ['poll interval', formatDuration(panel.pollIntervalMs)],
    ['staleness', formatDuration(panel.stalenessMs)],
    ['timeouts', describeTimeouts(panel)],
    ['socket hosts', socketHosts?.join(', ') ?? anyHost(panel.url)],
    ...(panel.queryHosts === undefined ? [] : [['query hosts', panel.queryHosts.join(', ')]]),
    ['proxy', proxyUrl === undefined ? 'from the environment' : withoutCredentials(proxyUrl)],
    ...(panel.servers.length === 0
      ? []
      : [['expect', `${countExpectations(panel.servers)} (servers below)`]]),
    ...(tls === undefined ? [] : [['TLS', describeTls(tls)]]),
    ...discoveryRows(panel),
    ...(panel.backups === undefined
      ? []
      : [['backups', `every ${formatDuration(panel.backups.intervalMs)}`]]),
    ...(panel.schedules === undefined
      ? []
      : [['schedules', `every ${formatDuration(panel.schedules.intervalMs)}`]]),
    ...(panel.nodes === undefined
      ? []
      : [['nodes', `every ${formatDuration(panel.nodes.intervalMs)}, with a key of their own`]]),
    ...(panel.allowInsecure ? [['insecure', 'http and ws allowed to any host']] : []),
  ];
}

function discoveryRows({ listing }: PanelConfig): readonly Cells[] {
  if (listing === undefined) return [];
  const every = `every ${formatDuration(listing.intervalMs)}`;
  const { discover, type } = listing;
  if (discover === undefined) return [['server list', `${every}, for node, egg and limits`]];
  const { include, exclude, expect, query = [], labels, mode, maxServers } = discover;
  return [
    ['discover', `${WHOSE[type ?? 'any']}, ${every}`],
    ...Object.entries(include).map(([key, globs]) => ['  include', `${key} ${globs.join(' or ')}`]),
    ...Object.entries(exclude).map(([key, globs]) => ['  exclude', `${key} ${globs.join(' or ')}`]),
    ...expect.map(({ match, state }, index) => ['  expect', describeRule(state, match, index)]),
    ...(expect.some(matchesEveryServer) ? [] : [['  expect', describeRule('auto', {}, expect.length)]]),
    ...query.map((rule, index) => ['  query', describeRule(describeQuery(rule.query), rule.match, index)]),
    ...(mode === 'auto' ? [] : [['  mode', mode]]),
    ...(maxServers === DEFAULT_MAX_SERVERS ? [] : [['  max_servers', String(maxServers)]]),
    ...(Object.keys(labels).length === 0 ? [] : [['  labels', describeLabels(labels)]]),
  ];
}

const WHOSE = {
  any: 'servers that the account can access',
  owner: 'servers that the account owns',
  admin: 'servers that the account can access only as an administrator',
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

function describeTls(tls: NonNullable<PanelConfig['tls']>): string {
  const parts = [
    tls.ca === undefined ? undefined : 'custom CA',
    tls.cert === undefined ? undefined : 'client certificate',
    tls.serverName === undefined ? undefined : `server name ${tls.serverName}`,
    tls.insecureSkipVerify ? 'certificates not verified' : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ') || 'defaults';
}

function serverRows({ servers }: PanelConfig): readonly Cells[] {
  if (servers.length === 0) return [['no servers listed here: all are discovered']];
  const isQueried = servers.some(({ query }) => query !== undefined);
  const heads = ['NAME', 'ID', 'EXPECT', 'MODE', 'LIMITS', ...(isQueried ? ['QUERY'] : []), 'LABELS'];
  return [heads, ...servers.map((server) => serverRow(server, isQueried))];
}

function serverRow(
  { name, id, expect, mode, limits, labels, query }: ServerTarget,
  isQueried: boolean,
): Cells {
  const named = [
    ['memory', formatLimit(limits.memoryBytes, formatSize)],
    ['disk', formatLimit(limits.diskBytes, formatSize)],
    ['cpu', formatLimit(limits.cpuCores, formatCores)],
  ] as const;
  const limitTexts = named.flatMap(([of, limit]) => (limit === undefined ? [] : [`${of} ${limit}`]));
  const queried = isQueried ? [query === undefined ? '-' : describeQuery(query)] : [];
  return [name, id, expect, mode, limitTexts.join(', ') || '-', ...queried, describeLabels(labels) || '-'];
}

function describeLabels(labels: ServerTarget['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(', ');
}

function formatLimit(limit: Limit | undefined, words: (limit: number) => string): string | undefined {
  return typeof limit === 'number' ? words(limit) : limit;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A size in the largest unit that makes it at least one, such as `40 GiB`; rounded to two decimals. */
function formatSize(bytes: number): string {
  // A value that would round to 1024 uses the next unit.
  const power = UNITS.findIndex((_, at) => Math.round((bytes / 1_024 ** at) * 100) < 102_400);
  const at = power === -1 ? UNITS.length - 1 : power;
  return `${Number((bytes / 1_024 ** at).toFixed(2))} ${UNITS[at] ?? ''}`;
}

function formatCores(cores: number): string {
  return `${cores} ${cores === 1 ? 'core' : 'cores'}`;
}

/** The hosts that sockets may be opened to if the configuration has none. */
function anyHost(panelUrl: string): string {
  return isLocalHost(new URL(panelUrl).hostname)
    ? 'any host that the panel returns, including this machine'
    : 'any public host that the panel returns';
}

/** The API budget needed for the configured servers; discovered servers are known only from the server list. */
function needsRow(panel: PanelConfig): readonly Cells[] {
  const { servers, listing } = panel;
  if (servers.length === 0) return [['API calls', 'depend on the server list: run doctor']];
  const needed = `${neededPerMinute(panel, servers).toFixed(1)} per minute for the servers below`;
  return [
    [
      'API calls',
      listing?.discover === undefined ? needed : `${needed}, plus discovered servers: run doctor`,
    ],
  ];
}
