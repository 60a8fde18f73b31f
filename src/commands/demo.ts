// The command `demo`: runs the exporter with a simulated panel.
import { Command } from 'commander';
import { MAX_PORT } from '../addresses/hosts.ts';
import { createApp } from '../app/app.ts';
import { openLog } from '../app/log.ts';
import type { Config } from '../config/config.ts';
import { parseConfig } from '../config/parse.ts';
import { DEMO_SERVERS } from '../simulator/profiles.ts';
import type { Simulator } from '../simulator/simulator-interface.ts';
import { runUntilSignal } from './run-until-signal.ts';
import {
  externalUrlOption,
  type ListenFlag,
  type LogFlags,
  listenAddressOption,
  logFormatOption,
  logLevelOption,
} from './serve-flags.ts';
import { listenHosts, simulatorConfig, startSimulatedPanel } from './simulate.ts';
import { wholeNumber } from './whole-number.ts';

interface DemoFlags extends LogFlags, ListenFlag {
  readonly 'web.externalUrl'?: URL;
  readonly panelPort: number;
  readonly controlPort: number;
}

/** `demo`: runs a simulated panel and the exporter that monitors it, in one process. */
export function demoCommand(): Command {
  const port = wholeNumber(0, MAX_PORT);
  return new Command('demo')
    .description('try the exporter with a simulated panel that has a dozen game servers')
    .addOption(listenAddressOption('127.0.0.1:10317', 'address of the exporter'))
    .addOption(externalUrlOption())
    .option('--panel-port <port>', 'port of the simulated panel (0: any free port)', port, 10_318)
    .option(
      '--control-port <port>',
      'port of its control endpoint, on the same hosts as the exporter (0: any free port)',
      port,
      10_319,
    )
    .addOption(logLevelOption('warn'))
    .addOption(logFormatOption('pretty in a terminal, json otherwise'))
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter demo
  $ gameserver-exporter demo --web.listen-address :10317     open to other machines, or in a container

Exit codes: 0 stopped by a signal · 1 error · 2 invalid usage`,
    )
    .action((flags: DemoFlags) => demo(flags));
}

async function demo(flags: DemoFlags): Promise<void> {
  const stops: (() => Promise<void>)[] = [];
  await runUntilSignal({
    start: async () => {
      const panel = await startSimulatedPanel(
        {
          listen: [{ host: '127.0.0.1', port: flags.panelPort }],
          controlPort: flags.controlPort,
          controlHosts: listenHosts(flags['web.listenAddress']),
          servers: DEMO_SERVERS,
        },
        { panel: '--panel-port', control: '--control-port' },
      );
      stops.push(() => panel.stop());
      const { log, droppedLines } = await openLog({
        level: flags['log.level'] ?? 'warn',
        format: flags['log.format'] ?? 'auto',
      });
      const app = createApp({
        config: await configFor(panel),
        listen: flags['web.listenAddress'],
        externalUrl: flags['web.externalUrl'],
        log,
        droppedLogLines: droppedLines,
      });
      stops.push(() => app.stop());
      const { url } = await app.start();
      console.log(welcome(panel, url));
    },
    stop: async () => {
      await Promise.all(stops.map((stop) => stop()));
    },
  });
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
