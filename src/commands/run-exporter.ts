import { createApp } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { LoadResult } from '../config/load.ts';
import type { Shard } from '../fleet/shard.ts';
import { createLogger } from '../log.ts';
import { releaseFragments } from '../session/release-fragments.ts';
import { VERSION } from '../version.ts';
import type { WebConfigResult } from '../web-config/load.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import type { LogFlags } from './log-options.ts';
import { runUntilSignal } from './run-until-signal.ts';
import { type WebFlags, watchWebConfig } from './web-flags.ts';

export interface ExporterFlags extends LogFlags, WebFlags {
  readonly 'web.enableLifecycle'?: boolean;
}

interface ExporterOptions {
  readonly flags: ExporterFlags;
  readonly shard: Shard;
  readonly config: Config;
  /** Absent where nothing was named. */
  readonly webConfig: (WebConfigResult & { readonly ok: true }) | undefined;
  /** Reads the configuration again. */
  readonly load: () => Promise<LoadResult>;
}

/** Runs the exporter until a signal stops it. */
export async function runExporter({ flags, shard, config, webConfig, load }: ExporterOptions): Promise<void> {
  releaseFragments();
  const log = await createLogger({
    level: flags['log.level'] ?? config.log.level,
    format: flags['log.format'] ?? config.log.format,
  });
  const web = watchWebConfig(flags, webConfig, log);
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
      // Only now: what a start reads and makes is no garbage, and collecting among it again and again takes time.
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
