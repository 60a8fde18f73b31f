import { Command } from 'commander';
import { createApp } from '../app.ts';
import { formatIssues } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import type { Shard } from '../fleet/shard.ts';
import { parseListenAddress } from '../http/listen-address.ts';
import { createLogger } from '../log.ts';
import { VERSION } from '../version.ts';
import { CommandFailure } from './failure.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { type LogFlags, logFormatOption, logLevelOption } from './log-options.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { parseShard } from './shard-flags.ts';

interface ServeFlags extends LogFlags {
  readonly config: string;
  readonly 'web.listenAddress': string;
  readonly shard?: string;
  readonly totalShards?: string;
}

/** `serve`: runs the exporter until it is told to stop. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('observe the servers in a configuration and serve their metrics (the default command)')
    .option('--config <file>', 'configuration file', 'config.yaml')
    .option('--web.listen-address <address>', 'where to serve metrics; port 0 picks a free one', ':10317')
    .option(
      '--shard <ordinal>',
      "observe this part of the servers only, counted from 0; auto: the ordinal at the end of the pod's name",
    )
    .option('--total-shards <count>', 'how many parts there are (default: TOTAL_SHARDS of the environment)')
    .addOption(logLevelOption())
    .addOption(logFormatOption())
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter serve --config config.yaml
  $ gameserver-exporter serve --web.listen-address 127.0.0.1:9100 --log.format json
  $ gameserver-exporter serve --shard 2 --total-shards 5

Exit codes: 0 stopped by a signal · 1 trouble that the message names · 2 wrong usage`,
    )
    .allowExcessArguments()
    .action((flags: ServeFlags, command: Command) => {
      // As the default command it is given every word that names no command.
      const [word] = command.args;
      if (word !== undefined) command.error(`error: unknown command '${word}'`);
      const shard = parseShard(flags, process.env);
      if (typeof shard === 'string') command.error(`error: ${shard}`);
      return serve(flags, shard);
    });
}

async function serve(flags: ServeFlags, shard: Shard): Promise<void> {
  boundHeapGrowth();
  const listen = parseListenAddress(flags['web.listenAddress']);
  const loaded = await loadConfig(flags.config, process.env);
  if (!loaded.ok) throw new CommandFailure(formatIssues(loaded.issues));
  const { config } = loaded;
  const log = createLogger({
    level: flags['log.level'] ?? config.log.level,
    format: flags['log.format'] ?? config.log.format,
  });
  const app = createApp({ config, listen, log, shard });
  await runUntilSignal({
    start: async () => {
      const { url } = await app.start();
      const servers = config.panels.reduce((sum, panel) => sum + panel.servers.length, 0);
      const fields = { version: VERSION, panels: config.panels.length, servers };
      log.info(fields, `serving metrics on ${url}/metrics`);
    },
    stop: () => app.stop(),
  });
  log.info({}, 'stopped');
}
