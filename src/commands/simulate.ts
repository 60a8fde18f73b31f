// The command `simulate`: runs a simulated panel, and prints a configuration for it.
import { Command, Option } from 'commander';
import { MAX_PORT } from '../addresses/hosts.ts';
import { isLocalHost } from '../addresses/ranges.ts';
import { type ListenAddress, ListenError } from '../http/listen-address.ts';
import { DEMO_SERVERS, mixedServers } from '../simulator/profiles.ts';
import { DEFAULT_SEED, defaultApiKey, startSimulator } from '../simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../simulator/simulator-interface.ts';
import { type PanelKind, panelKindSchema } from '../simulator/simulator-schema.ts';
import { DEFAULT_SETTINGS, initialSettings } from '../simulator/simulator-settings.ts';
import { CommandFailure } from './command-failure.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { type ListenFlag, listenAddressOption } from './serve-flags.ts';
import { wholeNumber } from './whole-number.ts';

const DEFAULT_CONTROL_PORT = 10_319;

interface SimulateOptions extends ListenFlag {
  readonly controlPort: number;
  readonly servers: number;
  readonly panel: PanelKind;
  readonly rateLimit?: number;
  readonly tokenLifetime: number;
  readonly seed: number;
  readonly apiKey?: string;
}

/** `simulate`: runs a panel with simulated game servers, to try the exporter with. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description('run a simulated panel with game servers, and print a configuration for it')
    .addOption(listenAddressOption('127.0.0.1:10318', 'address of the panel'))
    .option(
      '--control-port <port>',
      'port of the control endpoint, for faults, on the same hosts as the panel (0: any free port)',
      wholeNumber(0, MAX_PORT),
      DEFAULT_CONTROL_PORT,
    )
    .addOption(
      new Option('--panel <kind>', 'kind of panel')
        .choices(panelKindSchema.options)
        .default(DEFAULT_SETTINGS.panel),
    )
    .option('--servers <count>', 'number of game servers', wholeNumber(0, 100_000), DEMO_SERVERS.length)
    .option(
      '--rate-limit <calls>',
      `API calls per minute that the panel allows (default: ${defaultRates()})`,
      wholeNumber(1),
    )
    .option(
      '--token-lifetime <seconds>',
      'lifetime of console tokens',
      wholeNumber(1),
      DEFAULT_SETTINGS.tokenLifetimeSeconds,
    )
    .option('--seed <number>', 'the same seed gives the same servers', wholeNumber(0), DEFAULT_SEED)
    .option('--api-key <key>', "the API key that the panel accepts (default: a key in the panel's format)")
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter simulate > config.yaml
  $ gameserver-exporter simulate --servers 500 --rate-limit 240 --seed 1
  $ gameserver-exporter simulate --web.listen-address :10318     open to other machines, or in a container
  $ curl -X POST http://127.0.0.1:${DEFAULT_CONTROL_PORT}/control/servers/survival/crash -d '{"exit":{"code":1}}'

Exit codes: 0 stopped by a signal · 1 error · 2 invalid usage`,
    )
    .action(async (options: SimulateOptions) => {
      let panel: Simulator | undefined;
      await runUntilSignal({
        start: async () => {
          panel = await start(options);
          console.log(simulatorConfig(panel, listenHosts(options['web.listenAddress']).every(isLocal)));
        },
        stop: async () => panel?.stop(),
      });
    });
}

/** The default rate limit, and those of panel kinds with a different one. */
function defaultRates(): string {
  const usual = DEFAULT_SETTINGS.rateLimitPerMinute;
  const others = panelKindSchema.options
    .map((panel) => [panel, initialSettings({ panel }).rateLimitPerMinute] as const)
    .filter(([, rate]) => rate !== usual)
    .map(([panel, rate]) => `${rate} with --panel ${panel}`);
  return [usual, ...others].join(', or ');
}

function start(options: SimulateOptions): Promise<Simulator> {
  return startSimulatedPanel(
    {
      listen: options['web.listenAddress'],
      controlPort: options.controlPort,
      controlHosts: listenHosts(options['web.listenAddress']),
      servers: mixedServers(options.servers),
      panel: options.panel,
      rateLimitPerMinute: options.rateLimit,
      tokenLifetimeSeconds: options.tokenLifetime,
      seed: options.seed,
      apiKeys: [options.apiKey ?? defaultApiKey(options.panel)],
    },
    { panel: '--web.listen-address', control: '--control-port' },
  );
}

/** The distinct hosts of the addresses; undefined means every address of the machine. */
export function listenHosts(addresses: readonly ListenAddress[]): readonly (string | undefined)[] {
  return [...new Set(addresses.map(({ host }) => host))];
}

/** The flags with the simulated panel's ports. */
interface PortFlags {
  readonly panel: string;
  readonly control: string;
}

/** The reasons why a port can't be opened. */
const PORT_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is already in use',
  EACCES: 'may not be opened by this user',
};

/**
 * Starts a simulated panel. Throws a CommandFailure or a ListenError that names the flag to change
 * if it can't listen.
 */
export async function startSimulatedPanel(options: SimulatorOptions, flags: PortFlags): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    const cause = error as NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string };
    const { code = '', port, address, hostname } = cause;
    const host = address ?? hostname;
    const problem = PORT_PROBLEMS[code];
    if (problem !== undefined && port !== undefined) {
      const flag = options.listen?.some((place) => place.port === port) ? flags.panel : flags.control;
      throw new CommandFailure(`port ${port} ${problem}; choose another with ${flag}`, { cause });
    }
    // The machine doesn't have this address, or the host name can't be resolved.
    if (host === undefined) throw error;
    throw new ListenError({ host, port: port ?? options.listen?.[0]?.port ?? 0 }, cause);
  }
}

/** Whether the host is reachable only from this machine. */
function isLocal(host: string | undefined): boolean {
  return host !== undefined && isLocalHost(host);
}

/**
 * A configuration of the exporter for all servers of a simulated panel. An exporter on another
 * machine doesn't query the games, which respond only on loopback.
 */
export function simulatorConfig(panel: Simulator, isExporterHere = true): string {
  const lines = [
    `# simulated panel: ${panel.url}`,
    `# second node (moved servers): ${panel.secondNodeUrl}`,
    `# control endpoint: ${panel.controlUrl}/control`,
    'panels:',
    '  - name: simulated',
    `    url: ${panel.url}`,
    `    api_key: ${JSON.stringify(panel.apiKey)}`,
    ...(isLocal(new URL(panel.url).hostname) ? [] : ['    allow_insecure: true']),
    '    backups: { interval: 10m }',
    '    schedules: { interval: 10m }',
    '    servers:',
  ];
  for (const { name, profile, uuid, limits, gamePort } of panel.servers) {
    lines.push(
      `      - id: ${uuid}`,
      `        name: ${JSON.stringify(name)}`,
      `        limits: { ${limitsText(limits)} }`,
    );
    if (gamePort !== undefined && isExporterHere)
      lines.push(`        query: { type: minecraft, address: "127.0.0.1:${gamePort}", interval: 10s }`);
    // These servers don't run, so no alert should fire.
    if (profile === 'offline' || profile === 'suspended') lines.push('        expect: any');
  }
  return lines.join('\n');
}

// The socket reports the memory limit, but for an unlimited server it reports the node's memory.
function limitsText({ memory, disk, cpu }: Simulator['servers'][number]['limits']): string {
  const limits = [
    `disk: ${disk === 0 ? 'unlimited' : `${disk}MiB`}`,
    `cpu_cores: ${cpu === 0 ? 'unlimited' : cpu / 100}`,
  ];
  return (memory === 0 ? ['memory: unlimited', ...limits] : limits).join(', ');
}
