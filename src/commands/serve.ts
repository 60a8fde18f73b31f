import { Command } from 'commander';
import { formatIssues } from '../config/issue.ts';
import { type LoadOptions, loadConfig } from '../config/load.ts';
import { parseInThread } from '../config/parse-thread.ts';
import type { Shard } from '../fleet/shard.ts';
import { CommandFailure } from './failure.ts';
import { logFormatOption, logLevelOption } from './log-options.ts';
import { type ExporterFlags, runExporter } from './run-exporter.ts';
import { parseShard } from './shard-flags.ts';
import { listenAddressOption, loadWebFlags, webConfigOption } from './web-flags.ts';

interface ServeFlags extends ExporterFlags {
  readonly config: string;
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
  const load = (options?: LoadOptions) => loadConfig(flags.config, process.env, options);
  const [loaded, loadedWeb] = await Promise.all([load(), loadWebFlags(flags)]);
  if (!loaded.ok || loadedWeb?.ok === false) {
    const issues = [loaded, loadedWeb].flatMap((result) => (result?.ok === false ? result.issues : []));
    throw new CommandFailure(formatIssues(issues));
  }
  await runExporter({
    flags,
    shard,
    config: loaded.config,
    webConfig: loadedWeb,
    load: () => load({ parse: parseInThread }),
  });
}
