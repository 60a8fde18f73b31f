// The command `serve`, which is the default: the exporter as a service.

import { Command } from 'commander';
import { createApp } from '../app/app.ts';
import { openLog } from '../app/log.ts';
import type { Shard } from '../app/shard.ts';
import { VERSION } from '../build-info.ts';
import type { Config } from '../config/config.ts';
import { loadConfig, loadInThread } from '../config/load-config.ts';
import { SystemClock } from '../domain/clock.ts';
import { INTERNAL_ERRORS } from '../domain/internal-errors.ts';
import type { WebConfigResult } from '../http/web-config/load-web-config.ts';
import { StateKeeper } from '../storage/state-keeper.ts';
import { formatIssues } from '../yaml/issues.ts';
import { CommandFailure } from './command-failure.ts';
import { descriptorLimit } from './descriptor-limit.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { runUntilSignal } from './run-until-signal.ts';
import {
  externalUrlOption,
  type LogFlags,
  listenAddressOption,
  loadWebFlags,
  logFormatOption,
  logLevelOption,
  parseShard,
  type StorageFlag,
  storagePathOption,
  type WebFlags,
  watchWebConfig,
  webConfigOption,
} from './serve-flags.ts';

interface ServeFlags extends LogFlags, WebFlags, StorageFlag {
  readonly config: string;
  readonly 'web.enableLifecycle'?: boolean;
  readonly 'web.externalUrl'?: URL;
  readonly shard?: string;
  readonly totalShards?: string;
}

/** `serve`: runs the exporter until it is stopped. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('monitor the configured servers and serve their metrics (default command)')
    .argument('[config]', 'configuration file (default: the value of --config)')
    .option('--config <file>', 'configuration file', 'config.yaml')
    .addOption(listenAddressOption())
    .addOption(webConfigOption())
    .addOption(externalUrlOption())
    .addOption(storagePathOption())
    .option('--web.enable-lifecycle', 'also reload the configuration on POST /-/reload (SIGHUP always does)')
    .option(
      '--shard <ordinal>',
      'monitor only this shard of the servers, counted from 0 (auto: the ordinal at the end of the pod name)',
    )
    .option('--total-shards <count>', 'number of shards (default: TOTAL_SHARDS from the environment)')
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

Exit codes: 0 stopped by a signal · 1 error · 2 invalid usage`,
    )
    .allowExcessArguments()
    .action((file: string | undefined, given: ServeFlags, command: Command) => {
      // The default command gets the arguments after the flags, which may be a mistyped command.
      const isNamed = command.parent?.args[0] === command.name();
      if (file !== undefined && !isNamed) command.error(`error: unknown command '${file}'`);
      if (command.args.length > 1) command.error(`error: too many arguments: expected only '${file ?? ''}'`);
      const flags = { ...given, config: file ?? given.config };
      const shard = parseShard(flags, process.env);
      if (typeof shard === 'string') command.error(`error: ${shard}`);
      return serve(flags, shard);
    });
}

async function serve(flags: ServeFlags, shard: Shard): Promise<void> {
  const [loaded, loadedWeb] = await Promise.all([loadConfig(flags.config, process.env), loadWebFlags(flags)]);
  if (!loaded.ok || loadedWeb?.ok === false) {
    const issues = [loaded, loadedWeb].flatMap((result) => (result?.ok === false ? result.issues : []));
    throw new CommandFailure(formatIssues(issues));
  }
  await runExporter(flags, shard, loaded.config, loadedWeb);
}

/** Runs the exporter until a signal stops it. */
async function runExporter(
  flags: ServeFlags,
  shard: Shard,
  config: Config,
  webConfig: (WebConfigResult & { readonly ok: true }) | undefined,
): Promise<void> {
  const { log, droppedLines } = await openLog({
    level: flags['log.level'] ?? config.log.level,
    format: flags['log.format'] ?? config.log.format,
  });
  const web = watchWebConfig(flags, webConfig, log);
  const clock = new SystemClock((run) => void setImmediate(run));
  const folder = flags['storage.path'];
  const state =
    folder === '' ? undefined : await StateKeeper.open({ folder, shard: shard.index, clock, log });
  let running = config;
  const app = createApp({
    clock,
    state,
    config,
    listen: flags['web.listenAddress'],
    web,
    log,
    descriptorLimit: descriptorLimit(),
    droppedLogLines: droppedLines,
    shard,
    load: () => loadInThread(flags.config, process.env, running),
    reloaded: (next) => {
      running = next;
      log.level = flags['log.level'] ?? next.log.level;
      const isOtherFormat = next.log.format !== config.log.format;
      if (isOtherFormat && flags['log.format'] === undefined)
        log.warn({}, '`log.format` changed: restart the exporter to apply it');
    },
    enableLifecycle: flags['web.enableLifecycle'] === true,
    externalUrl: flags['web.externalUrl'],
  });
  // An exception ends only the work that threw it; nothing else depends on that. Before the
  // exporter has started, an exception ends the process.
  for (const event of ['unhandledRejection', 'uncaughtException'] as const)
    process.on(event, (error: unknown) => INTERNAL_ERRORS.report(error));
  await runUntilSignal({
    start: async () => {
      const { urls } = await app.start();
      // Set only after startup, whose data isn't garbage: collecting it repeatedly would only cost
      // time.
      boundHeapGrowth();
      web?.start();
      const fields = { version: VERSION, panels: config.panels.length };
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
