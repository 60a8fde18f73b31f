import { Command } from 'commander';
import type { Config, PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { type Clock, SystemClock } from '../domain/clock.ts';
import { DEFAULT_MAX_SERVERS, type DiscoverRules, type ServerGlobs } from '../domain/discovery.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { countExpectations, type Limit, type ServerTarget } from '../domain/server.ts';
import { compileRules } from '../fleet/discovered-targets.ts';
import { formatIssues } from '../yaml/issues.ts';
import { withoutCredentials } from '../yaml/quoting.ts';
import { formatDuration } from '../yaml/scalars.ts';
import { listing } from './console-server.ts';
import { loadWebFlags, type WebConfigFlag, webConfigOption } from './serve-flags.ts';

interface CheckFlags extends WebConfigFlag {
  readonly config: string;
  readonly listing?: boolean;
}

/** `check`: says what a configuration was understood to mean, or everything that is wrong with it. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration and print what it was understood to mean, without secrets')
    .argument('[config]', 'the configuration file (default: that of --config)')
    .option('--config <file>', 'the configuration file', 'config.yaml')
    .option(
      '--listing',
      'ask the panels that discover for their listings, and count the servers that each rule covers',
    )
    .addOption(webConfigOption())
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter check config.yaml
  $ gameserver-exporter check config.yaml --listing
  $ gameserver-exporter check config.yaml --web.config.file web.yml

Exit codes: 0 all is valid · 1 something is not: each problem with its file, line and column · 2 wrong usage`,
    )
    .action(async (file: string | undefined, options: CheckFlags, command: Command) => {
      const output = command.configureOutput();
      const print = (text: string) => output.writeOut?.(KNOWN_SECRETS.strike(text));
      const complain = (text: string) => output.writeErr?.(KNOWN_SECRETS.strike(text));
      const path = file ?? options.config;
      const webFile = options['web.config.file'] ?? '';
      const web = await loadWebFlags(options);
      const result = await loadConfig(path, process.env);
      if (result.ok) {
        print(`${path} is valid\n\n${describeConfig(result.config)}\n`);
        const { panels } = result.config;
        for (const { name } of panels.filter(expectsNothing)) complain(neverExpected(path, name));
        if (options.listing === true) print(`\n${await describeListings(panels)}\n`);
      } else complain(`${formatIssues(result.issues)}\n`);
      if (web?.ok === true) print(`\n${webFile} is valid\n`);
      const remarks = web === undefined ? [] : web.ok ? web.warnings : web.issues;
      if (remarks.length > 0) complain(`${formatIssues(remarks)}\n`);
      process.exitCode = result.ok && web?.ok !== false ? 0 : 1;
    });
}

/** The cells of one line. */
type Cells = readonly string[];

/** A configuration in words and tables, with defaults filled in and without secrets. */
function describeConfig(config: Config): string {
  const { panels, log, compatibility } = config;
  const rest = [
    ...(compatibility === undefined ? [] : [`compatibility: the names of ${compatibility}, too`]),
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
    ['requests', rate === undefined ? "80 % of the panel's limit" : `${rate} a minute`],
    ['poll interval', formatDuration(panel.pollIntervalMs)],
    ['staleness', formatDuration(panel.stalenessMs)],
    ['timeouts', describeTimeouts(panel)],
    ['socket hosts', socketHosts?.join(', ') ?? 'any public host that the panel names'],
    ['proxy', proxyUrl === undefined ? 'as in the environment' : withoutCredentials(proxyUrl)],
    ...(panel.servers.length === 0
      ? []
      : [['expect', `${countExpectations(panel.servers)} of the servers below`]]),
    ...(tls === undefined ? [] : [['TLS', describeTls(tls)]]),
    ...discoveryRows(panel),
    ...(panel.backups === undefined
      ? []
      : [['backups', `every ${formatDuration(panel.backups.intervalMs)}`]]),
    ...(panel.allowInsecure ? [['insecure', 'http and ws are allowed to any host']] : []),
  ];
}

function discoveryRows({ listing }: PanelConfig): readonly Cells[] {
  if (listing === undefined) return [];
  const every = `every ${formatDuration(listing.intervalMs)}`;
  const { discover, type } = listing;
  if (discover === undefined) return [['listing', `for node, egg and limits, ${every}`]];
  const { include, exclude, expect, labels, mode, maxServers } = discover;
  return [
    ['discover', `${WHOSE[type ?? 'any']}, ${every}`],
    ...Object.entries(include).map(([key, globs]) => ['  include', `${key} ${globs.join(' or ')}`]),
    ...Object.entries(exclude).map(([key, globs]) => ['  exclude', `${key} ${globs.join(' or ')}`]),
    ...expect.map(({ match, state }) => ['  expect', `${state} where ${describeMatch(match)}`]),
    ...(expect.some(fitsEveryServer) ? [] : [['  expect', `auto where ${describeMatch({})}`]]),
    ...(mode === 'auto' ? [] : [['  mode', mode]]),
    ...(maxServers === DEFAULT_MAX_SERVERS ? [] : [['  max_servers', String(maxServers)]]),
    ...(Object.keys(labels).length === 0 ? [] : [['  labels', describeLabels(labels)]]),
  ];
}

const WHOSE = {
  any: 'servers that the account has access to',
  owner: 'servers that the account owns',
  admin: 'servers that the account sees as an administrator only',
  'admin-all': 'all servers of the panel',
};

function describeMatch(match: ServerGlobs): string {
  const parts = Object.entries(match).map(([key, globs]) => `${key} ${globs.join(' or ')}`);
  return parts.join(' and ') || 'no rule above fits';
}

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
    tls.ca === undefined ? undefined : 'own CA',
    tls.cert === undefined ? undefined : 'client certificate',
    tls.serverName === undefined ? undefined : `server name ${tls.serverName}`,
    tls.insecureSkipVerify ? 'certificates are not verified' : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(', ') || 'defaults';
}

function fitsEveryServer({ match }: { readonly match: ServerGlobs }): boolean {
  return Object.keys(match).length === 0;
}

/** How many listed servers each rule of each panel covers; throws a CommandFailure where a listing can't be read. */
async function describeListings(panels: readonly PanelConfig[]): Promise<string> {
  const clock = new SystemClock();
  const described = await Promise.all(
    panels.flatMap((panel) => {
      const discover = panel.listing?.discover;
      return discover === undefined ? [] : [describeListing(panel, discover, clock)];
    }),
  );
  return described.join('\n\n') || 'no panel discovers servers: there are no rules to count by';
}

async function describeListing(panel: PanelConfig, discover: DiscoverRules, clock: Clock): Promise<string> {
  const servers = await listing(panel, clock);
  const rules = compileRules(panel.name, discover);
  const watched = servers.map((server) => rules.judge(server)).filter(({ included }) => included);
  const covered = (wanted: number) => String(watched.filter(({ rule }) => rule === wanted).length);
  const rows = [
    ...discover.expect.map(
      ({ match, state }, rule): Cells => [`${state} where ${describeMatch(match)}`, covered(rule)],
    ),
    ...(discover.expect.some(fitsEveryServer) ? [] : [[`auto where ${describeMatch({})}`, covered(-1)]]),
  ];
  const head = `panel ${panel.name}: ${servers.length} servers listed, ${watched.length} of them watched`;
  return `${head}\n\n${indent(columns([['EXPECT', 'SERVERS'], ...rows]))}`;
}

/** Can no server of the panel ever be expected to run, so that no alert fires when one stops? */
function expectsNothing({ servers, listing }: PanelConfig): boolean {
  const rules = listing?.discover?.expect;
  const fitsAll = rules?.findIndex(fitsEveryServer) ?? -1;
  const reached = fitsAll === -1 ? rules : rules?.slice(0, fitsAll + 1);
  // What no rule fits is expected by what is seen of it.
  const isOpen = listing?.discover !== undefined && fitsAll === -1;
  const states = [...servers.map(({ expect }) => expect), ...(reached ?? []).map(({ state }) => state)];
  return !isOpen && states.every((state) => state === 'any');
}

function neverExpected(path: string, panel: string): string {
  return `${path}: panel ${panel}: no server can ever be expected to run, so that no alert fires when one stops: set expect to running or auto where that matters\n`;
}

function serverRows({ servers }: PanelConfig): readonly Cells[] {
  if (servers.length === 0) return [['no servers of its own: all are discovered']];
  return [['NAME', 'ID', 'EXPECT', 'MODE', 'LIMITS', 'LABELS'], ...servers.map(serverRow)];
}

function serverRow({ name, id, expect, mode, limits, labels }: ServerTarget): Cells {
  const named = [
    ['memory', inBytes(limits.memoryBytes)],
    ['disk', inBytes(limits.diskBytes)],
    ['cpu', limits.cpuCores],
  ] as const;
  const limitTexts = named.flatMap(([of, limit]) => (limit === undefined ? [] : [`${of} ${limit}`]));
  return [name, id, expect, mode, limitTexts.join(', ') || '-', describeLabels(labels) || '-'];
}

function describeLabels(labels: ServerTarget['labels']): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(', ');
}

function inBytes(limit: Limit | undefined): string | undefined {
  return typeof limit === 'number' ? `${limit} bytes` : limit;
}

/** Rows as lines whose cells stand below each other. */
function columns(rows: readonly Cells[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
