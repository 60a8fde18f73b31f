import { Command, InvalidArgumentError } from 'commander';
import { DEMO_SERVERS, mixedServers, type Simulator, startSimulator } from '../simulator/index.ts';
import { CommandFailure } from './failure.ts';
import { runUntilSignal } from './run-until-signal.ts';

const DEFAULT_PORT = 10_318;
const DEFAULT_CONTROL_PORT = 10_319;
const HIGHEST_PORT = 65_535;

interface SimulateOptions {
  readonly port: number;
  readonly controlPort: number;
  readonly servers: number;
  readonly rateLimit?: number;
  readonly tokenLifetime?: number;
  readonly seed?: number;
  readonly apiKey?: string;
}

/** `simulate`: a panel with game servers that don't exist, to try the exporter on. */
export function simulateCommand(): Command {
  return new Command('simulate')
    .description(
      'run a simulated panel with simulated game servers; what it prints is a configuration for it',
    )
    .option('--port <port>', "the panel's port (0: any free one)", wholeNumber(0, HIGHEST_PORT), DEFAULT_PORT)
    .option(
      '--control-port <port>',
      'port of the control endpoint, which takes faults (0: any free one)',
      wholeNumber(0, HIGHEST_PORT),
      DEFAULT_CONTROL_PORT,
    )
    .option('--servers <count>', 'how many game servers', wholeNumber(0, 100_000), DEMO_SERVERS.length)
    .option('--rate-limit <calls>', 'API calls a minute that the panel allows', wholeNumber(1))
    .option('--token-lifetime <seconds>', 'how long console tokens live', wholeNumber(1))
    .option('--seed <number>', 'the same seed gives the same servers', wholeNumber(0))
    .option('--api-key <key>', 'the API key that the panel accepts')
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

async function start(options: SimulateOptions): Promise<Simulator> {
  try {
    return await startSimulator({
      port: options.port,
      controlPort: options.controlPort,
      servers: mixedServers(options.servers),
      ...(options.rateLimit !== undefined && { rateLimitPerMinute: options.rateLimit }),
      ...(options.tokenLifetime !== undefined && { tokenLifetimeSeconds: options.tokenLifetime }),
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.apiKey !== undefined && { apiKeys: [options.apiKey] }),
    });
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if ((code !== 'EADDRINUSE' && code !== 'EACCES') || port === undefined) throw error;
    const option = port === options.port ? '--port' : '--control-port';
    const trouble = code === 'EADDRINUSE' ? 'is taken by another program' : 'may not be opened by this user';
    throw new CommandFailure(`port ${port} ${trouble}; choose another with ${option}`, { cause: error });
  }
}

/** A configuration for the exporter that collects everything that a simulated panel has. */
export function simulatorConfig(panel: Simulator): string {
  const lines = [
    `# simulated panel: ${panel.url}`,
    `# second node (moved servers): ${panel.secondNodeUrl}`,
    `# control endpoint: ${panel.controlUrl}/control`,
    'panels:',
    '  - name: simulated',
    `    url: ${panel.url}`,
    `    api_key: ${JSON.stringify(panel.apiKey)}`,
    '    servers:',
  ];
  for (const { name, temper, uuid } of panel.servers) {
    lines.push(`      - id: ${uuid}`, `        name: ${JSON.stringify(name)}`);
    // Nobody expects these to run, so no alert should say that they don't.
    if (temper === 'offline' || temper === 'suspended') lines.push('        expect: any');
  }
  return lines.join('\n');
}

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}
