import { Command } from 'commander';
import { createApp } from '../app.ts';
import { formatIssues } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import type { Shard } from '../fleet/shard.ts';
import { createLogger } from '../log.ts';
import { releaseFragments } from '../session/release-fragments.ts';
import { VERSION } from '../version.ts';
import { CommandFailure } from './failure.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { type LogFlags, logFormatOption, logLevelOption } from './log-options.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { parseShard } from './shard-flags.ts';
import {
  listenAddressOption,
  loadWebFlags,
  type WebFlags,
  watchWebConfig,
  webConfigOption,
} from './web-flags.ts';

interface ServeFlags extends LogFlags, WebFlags {
  readonly config: string;
  readonly 'web.enableLifecycle'?: boolean;
  readonly shard?: string;
  readonly totalShards?: string;
}

/** `serve`: runs the exporter until it is told to stop. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('observe the servers in a configuration and serve their metrics (the default command)')
    .option('--config <file>', 'configuration file', 'config.yaml')
    .addOption(listenAddressOption())
    .addOption(webConfigOption())
    .option('--web.enable-lifecycle', 'reload the configuration on POST /-/reload, too; SIGHUP always does')
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
  $ gameserver-exporter serve --web.listen-address 127.0.0.1:10317 --web.listen-address [::1]:10317
  $ gameserver-exporter serve --web.config.file web.yml
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
  releaseFragments();
  const load = () => loadConfig(flags.config, process.env);
  const [loaded, loadedWeb] = await Promise.all([load(), loadWebFlags(flags)]);
  if (!loaded.ok || loadedWeb?.ok === false) {
    const issues = [loaded, loadedWeb].flatMap((result) => (result?.ok === false ? result.issues : []));
    throw new CommandFailure(formatIssues(issues));
  }
  const { config } = loaded;
  const log = await createLogger({
    level: flags['log.level'] ?? config.log.level,
    format: flags['log.format'] ?? config.log.format,
  });
  const web = watchWebConfig(flags, loadedWeb, log);
  const app = createApp({
    config,
    listen: flags['web.listenAddress'],
    web,
    log,
    shard,
    load,
    reloaded: (next) => {
      log.level = flags['log.level'] ?? next.log.level;
      const isOtherFormat = next.log.format !== config.log.format;
      if (isOtherFormat && flags['log.format'] === undefined)
        log.warn({}, 'log.format takes effect at the next start');
    },
    enableLifecycle: flags['web.enableLifecycle'] === true,
  });
  await runUntilSignal({
    start: async () => {
      const { urls } = await app.start();
      boundHeapGrowth();
      web?.start();
      const servers = config.panels.reduce((sum, panel) => sum + panel.servers.length, 0);
      const fields = { version: VERSION, panels: config.panels.length, servers };
      for (const url of urls) log.info(fields, `serving metrics on ${url}/metrics`);
    },
    stop: () => {
      web?.stop();
      return app.stop();
    },
    reload: () => app.reload(),
  });
  log.info({}, 'stopped');
}
