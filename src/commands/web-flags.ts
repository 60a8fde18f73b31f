import { Option } from 'commander';
import { formatIssues } from '../config/issue.ts';
import { SystemClock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { type ListenAddress, parseListenAddress } from '../http/listen-address.ts';
import { loadWebConfig, type WebConfigResult } from '../web-config/load.ts';
import { WatchedWebConfig } from '../web-config/watched-web-config.ts';

/** The flags that say where and how is served. */
export interface WebFlags {
  readonly 'web.listenAddress': readonly ListenAddress[];
  readonly 'web.config.file'?: string;
}

const DEFAULT_ADDRESS = ':10317';
const DEFAULT: readonly ListenAddress[] = [parseListenAddress(DEFAULT_ADDRESS)];

export function listenAddressOption(): Option {
  return new Option(
    '--web.listen-address <address>',
    'where to serve metrics, may be given several times; port 0 picks a free one',
  )
    .default(DEFAULT, DEFAULT_ADDRESS)
    .argParser((text: string, before: readonly ListenAddress[]) => {
      const address = parseListenAddress(text);
      return before === DEFAULT ? [address] : [...before, address];
    });
}

export function webConfigOption(): Option {
  return new Option(
    '--web.config.file <file>',
    'TLS and passwords, in the format that every Prometheus exporter takes',
  );
}

/** What the web configuration says; undefined where there is none. As with Prometheus' programs, an empty name names none. */
export async function loadWebFlags(flags: WebFlags): Promise<WebConfigResult | undefined> {
  const file = flags['web.config.file'] ?? '';
  return file === '' ? undefined : loadWebConfig(file, process.env);
}

/** The web configuration as it is served, and watched for changes; logs what it warns of. */
export function watchWebConfig(
  flags: WebFlags,
  loaded: (WebConfigResult & { readonly ok: true }) | undefined,
  log: Logger,
): WatchedWebConfig | undefined {
  if (loaded === undefined) return undefined;
  for (const warning of loaded.warnings) log.warn({}, formatIssues([warning]));
  const file = flags['web.config.file'] ?? '';
  return new WatchedWebConfig({ file, env: process.env, clock: new SystemClock(), log }, loaded);
}
