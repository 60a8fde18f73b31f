import { Command } from 'commander';
import { MAX_PORT } from '../domain/addresses.ts';
import type { Simulator, SimulatorOptions } from '../simulator/api.ts';
import { DEMO_SERVERS, mixedServers } from '../simulator/profiles.ts';
import { DEFAULT_SETTINGS } from '../simulator/settings.ts';
import { DEFAULT_API_KEY, DEFAULT_SEED, startSimulator } from '../simulator/simulator.ts';
import { CommandFailure, wholeNumber } from './command-line.ts';
import { runUntilSignal } from './service.ts';

const DEFAULT_PORT = 10_318;
const DEFAULT_CONTROL_PORT = 10_319;

interface SimulateOptions {
  readonly port: number;
  readonly controlPort: number;
  readonly servers: number;
  readonly rateLimit: number;
  readonly tokenLifetime: number;
  readonly seed: number;
  readonly apiKey: string;
}

/** `simulate`: a panel with simulated game servers, to try the exporter with. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description('run a simulated panel with game servers, and print a configuration for it')
    .option('--port <port>', 'port of the panel (0: any free port)', wholeNumber(0, MAX_PORT), DEFAULT_PORT)
    .option(
      '--control-port <port>',
      'port of the control endpoint, for faults (0: any free port)',
      wholeNumber(0, MAX_PORT),
      DEFAULT_CONTROL_PORT,
    )
    .option('--servers <count>', 'number of game servers', wholeNumber(0, 100_000), DEMO_SERVERS.length)
    .option(
      '--rate-limit <calls>',
      'API calls per minute that the panel allows',
      wholeNumber(1),
      DEFAULT_SETTINGS.rateLimitPerMinute,
    )
    .option(
      '--token-lifetime <seconds>',
      'lifetime of console tokens',
      wholeNumber(1),
      DEFAULT_SETTINGS.tokenLifetimeSeconds,
    )
    .option('--seed <number>', 'the same seed gives the same servers', wholeNumber(0), DEFAULT_SEED)
    .option('--api-key <key>', 'the API key that the panel accepts', DEFAULT_API_KEY)
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter simulate > config.yaml
  $ gameserver-exporter simulate --servers 500 --rate-limit 240 --seed 1
  $ curl -X POST http://127.0.0.1:${DEFAULT_CONTROL_PORT}/control/servers/survival/crash -d '{"exit":{"code":1}}'

Exit codes: 0 stopped by a signal · 1 error · 2 invalid usage`,
    )
    .action(async (options: SimulateOptions) => {
      let panel: Simulator | undefined;
      await runUntilSignal({
        start: async () => {
          panel = await start(options);
          console.log(simulatorConfig(panel));
        },
        stop: async () => panel?.stop(),
      });
    });
}

function start(options: SimulateOptions): Promise<Simulator> {
  return startSimulatedPanel(
    {
      port: options.port,
      controlPort: options.controlPort,
      servers: mixedServers(options.servers),
      rateLimitPerMinute: options.rateLimit,
      tokenLifetimeSeconds: options.tokenLifetime,
      seed: options.seed,
      apiKeys: [options.apiKey],
    },
    { port: '--port', controlPort: '--control-port' },
  );
}

/** The flags for the simulated panel's ports. */
export interface PortFlags {
  readonly port: string;
  readonly controlPort: string;
}

/** Starts a simulated panel; throws a CommandFailure that shows the flag to change if it can't listen on the port. */
export async function startSimulatedPanel(options: SimulatorOptions, flags: PortFlags): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if ((code !== 'EADDRINUSE' && code !== 'EACCES') || port === undefined) throw error;
    const flag = port === options.port ? flags.port : flags.controlPort;
    throw new CommandFailure(`port ${port} ${portProblem(code)}; choose another with ${flag}`, {
      cause: error,
    });
  }
}

/** Why listening on a port failed. */
export function portProblem(code: 'EADDRINUSE' | 'EACCES'): string {
  return code === 'EADDRINUSE' ? 'is already in use' : 'may not be opened by this user';
}

/** An exporter configuration that monitors everything on a simulated panel. */
export function simulatorConfig(panel: Simulator): string {
  const lines = [
    `# simulated panel: ${panel.url}`,
    `# second node (moved servers): ${panel.secondNodeUrl}`,
    `# control endpoint: ${panel.controlUrl}/control`,
    'panels:',
    '  - name: simulated',
    `    url: ${panel.url}`,
    `    api_key: ${JSON.stringify(panel.apiKey)}`,
    '    backups: { interval: 10m }',
    '    servers:',
  ];
  for (const { name, profile, uuid, limits, gamePort } of panel.servers) {
    lines.push(
      `      - id: ${uuid}`,
      `        name: ${JSON.stringify(name)}`,
      `        limits: { ${limitsText(limits)} }`,
    );
    if (gamePort !== undefined)
      lines.push(`        query: { type: minecraft, address: "127.0.0.1:${gamePort}", interval: 10s }`);
    // These are not expected to run, so no alert should fire.
    if (profile === 'offline' || profile === 'suspended') lines.push('        expect: any');
  }
  return lines.join('\n');
}

// The memory limit is reported by the socket; if it is unlimited, the socket reports the node's memory instead.
function limitsText({ memory, disk, cpu }: Simulator['servers'][number]['limits']): string {
  const limits = [
    `disk: ${disk === 0 ? 'unlimited' : `${disk}MiB`}`,
    `cpu_cores: ${cpu === 0 ? 'unlimited' : cpu / 100}`,
  ];
  return (memory === 0 ? ['memory: unlimited', ...limits] : limits).join(', ');
}
