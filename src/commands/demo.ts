import { Command } from 'commander';
import { type App, createApp } from '../app/app.ts';
import { openLog } from '../app/log.ts';
import { type Config, parseConfig } from '../config/config.ts';
import { MAX_PORT } from '../domain/addresses.ts';
import { ListenError } from '../http/listen-address.ts';
import type { Simulator } from '../simulator/api.ts';
import { DEMO_SERVERS } from '../simulator/profiles.ts';
import { CommandFailure, wholeNumber } from './command-line.ts';
import { type LogFlags, logFormatOption, logLevelOption } from './serve-flags.ts';
import { runUntilSignal } from './service.ts';
import { portProblem, simulatorConfig, startSimulatedPanel } from './simulate.ts';

const LOOPBACK = '127.0.0.1';

interface DemoFlags extends LogFlags {
  readonly port: number;
  readonly panelPort: number;
  readonly controlPort: number;
}

/** `demo`: a simulated panel and the exporter that monitors it, in one process. */
export function demoCommand(): Command {
  const port = wholeNumber(0, MAX_PORT);
  return new Command('demo')
    .description('try the exporter with a simulated panel that has a dozen game servers')
    .option('--port <port>', 'port of the exporter (0: any free port)', port, 10_317)
    .option('--panel-port <port>', 'port of the simulated panel (0: any free port)', port, 10_318)
    .option(
      '--control-port <port>',
      'port of its control endpoint, for faults and commands (0: any free port)',
      port,
      10_319,
    )
    .addOption(logLevelOption('warn'))
    .addOption(logFormatOption('pretty in a terminal, json otherwise'))
    .addHelpText(
      'after',
      `
Example:
  $ gameserver-exporter demo --port 0 --panel-port 0 --control-port 0

Exit codes: 0 stopped by a signal · 1 error · 2 invalid usage`,
    )
    .action((flags: DemoFlags) => demo(flags));
}

async function demo(flags: DemoFlags): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  await runUntilSignal({
    start: async () => {
      const panel = await startSimulatedPanel(
        { port: flags.panelPort, controlPort: flags.controlPort, servers: DEMO_SERVERS },
        { port: '--panel-port', controlPort: '--control-port' },
      );
      stops.push(() => panel.stop());
      const { log, droppedLines } = await openLog({
        level: flags['log.level'] ?? 'warn',
        format: flags['log.format'] ?? 'auto',
      });
      const app = createApp({
        config: await configFor(panel),
        listen: { host: LOOPBACK, port: flags.port },
        log,
        droppedLogLines: droppedLines,
      });
      stops.push(() => app.stop());
      console.log(welcome(panel, await startApp(app, flags.port)));
    },
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  });
}

/** Starts the exporter, with this command's own flag in the error if it can't listen on the port. */
async function startApp(app: App, port: number): Promise<string> {
  try {
    return (await app.start()).url;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const { code } = error.cause as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw new CommandFailure(`port ${port} ${portProblem(code)}; choose another with --port`, {
      cause: error,
    });
  }
}

async function configFor(panel: Simulator): Promise<Config> {
  const { config } = await parseConfig(simulatorConfig(panel), 'demo', {});
  if (config === undefined) throw new Error("the demo's configuration is invalid");
  return config;
}

function welcome(panel: Simulator, url: string): string {
  return `A simulated panel with ${panel.servers.length} game servers runs at ${panel.url}
The exporter monitors them and serves at      ${url}

  Open   ${url}/          status of every server
         ${url}/metrics   what Prometheus scrapes
  Try    curl -s ${url}/metrics | grep gameserver_state
         curl -X POST ${panel.controlUrl}/control/servers/survival/crash -d '{"exit":{"code":1}}'

Ctrl-C stops both.`;
}
