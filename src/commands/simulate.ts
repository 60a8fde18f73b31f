import { Command } from 'commander';
import { DEMO_SERVERS, mixedServers, type Simulator } from '../simulator/index.ts';
import { HIGHEST_PORT, wholeNumber } from './numbers.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { simulatorConfig, startSimulatedPanel } from './simulated-panel.ts';

const DEFAULT_PORT = 10_318;
const DEFAULT_CONTROL_PORT = 10_319;

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
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter simulate > config.yaml
  $ gameserver-exporter simulate --servers 500 --rate-limit 240 --seed 1
  $ curl -X POST http://127.0.0.1:${DEFAULT_CONTROL_PORT}/control/servers/survival/crash

Exit codes: 0 stopped by a signal · 1 trouble that the message names · 2 wrong usage`,
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
      ...(options.rateLimit !== undefined && { rateLimitPerMinute: options.rateLimit }),
      ...(options.tokenLifetime !== undefined && { tokenLifetimeSeconds: options.tokenLifetime }),
      ...(options.seed !== undefined && { seed: options.seed }),
      ...(options.apiKey !== undefined && { apiKeys: [options.apiKey] }),
    },
    { port: '--port', controlPort: '--control-port' },
  );
}
