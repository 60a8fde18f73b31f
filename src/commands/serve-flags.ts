// The flags that commands with an HTTP server share.

import { InvalidArgumentError, Option } from 'commander';
import { type Shard, SINGLE_SHARD } from '../app/shard.ts';
import type { Config } from '../config/config.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../config/config-schema.ts';
import { SystemClock } from '../domain/clock.ts';
import type { Logger } from '../domain/logger.ts';
import { type ListenAddress, parseListenAddress } from '../http/listen-address.ts';
import { loadWebConfig, type WebConfigResult } from '../http/web-config/load-web-config.ts';
import { WatchedWebConfig } from '../http/web-config/watched-web-config.ts';
import { formatIssues } from '../yaml/issues.ts';
import type { Environment } from '../yaml/variables.ts';

/** The flag with the addresses to listen on. */
export interface ListenFlag {
  readonly 'web.listenAddress': readonly ListenAddress[];
}

/** The flags for the HTTP server. */
export interface WebFlags extends WebConfigFlag, ListenFlag {}

/** The flag with the path of the web configuration. */
export interface WebConfigFlag {
  readonly 'web.config.file'?: string;
}

export function listenAddressOption(otherwise = ':10317', what = 'address to listen on'): Option {
  const initial: readonly ListenAddress[] = [parseListenAddress(otherwise)];
  return new Option('--web.listen-address <address>', `${what}, repeatable (port 0 selects a free port)`)
    .default(initial, otherwise)
    .argParser((text: string, before: readonly ListenAddress[]) => {
      const address = parseListenAddress(text);
      return before === initial ? [address] : [...before, address];
    });
}

export function webConfigOption(): Option {
  return new Option(
    '--web.config.file <file>',
    'file with TLS and basic auth settings, in the format of Prometheus exporters',
  );
}

export function externalUrlOption(): Option {
  return new Option(
    '--web.external-url <url>',
    'URL at which people open the status page: alerts link to it, and POST /-/reload accepts its host',
  ).argParser((text: string) => {
    if (URL.canParse(text)) {
      const url = new URL(text);
      if (url.protocol === 'http:' || url.protocol === 'https:') return url;
    }
    throw new InvalidArgumentError('expected an http or https URL, such as https://exporter.example.com');
  });
}

/** The flag with the folder in which the state is kept. */
export interface StorageFlag {
  readonly 'storage.path': string;
}

export function storagePathOption(): Option {
  return new Option(
    '--storage.path <folder>',
    'folder that keeps the state of the servers across restarts (empty: no state is kept)',
  ).default('data');
}

/**
 * The content of the web configuration; undefined if there is none. As in Prometheus, an empty name
 * means none.
 */
export async function loadWebFlags(flags: WebConfigFlag): Promise<WebConfigResult | undefined> {
  const file = flags['web.config.file'] ?? '';
  return file === '' ? undefined : loadWebConfig(file, process.env);
}

/** The web configuration in use, watched for changes; logs its warnings. */
export function watchWebConfig(
  flags: WebConfigFlag,
  loaded: (WebConfigResult & { readonly ok: true }) | undefined,
  log: Logger,
): WatchedWebConfig | undefined {
  if (loaded === undefined) return undefined;
  for (const warning of loaded.warnings) log.warn({}, formatIssues([warning]));
  const file = flags['web.config.file'] ?? '';
  return new WatchedWebConfig({ file, env: process.env, clock: new SystemClock(), log }, loaded);
}

/** The flags that select the shard, as given. */
export interface ShardFlags {
  readonly shard?: string;
  readonly totalShards?: string;
}

/**
 * The shard from flags and environment, or a message about what is wrong with them. The flags are
 * those of kube-state-metrics; `auto` takes the ordinal at the end of a StatefulSet's pod name.
 */
export function parseShard(flags: ShardFlags, env: Environment): Shard | string {
  const count = flags.totalShards ?? env['TOTAL_SHARDS'];
  if (flags.shard === undefined && count === undefined) return SINGLE_SHARD;
  if (flags.shard === undefined) return '--total-shards requires --shard';
  if (count === undefined) return '--shard requires --total-shards, or TOTAL_SHARDS in the environment';
  const total = wholeNumberIn(count);
  if (total === undefined || total < 1)
    return `--total-shards: expected an integer of at least 1, got "${count}"`;
  const index = flags.shard === 'auto' ? podOrdinal(podName(env)) : wholeNumberIn(flags.shard);
  if (index === undefined && flags.shard === 'auto') {
    return `--shard=auto: expected a pod name that ends in an ordinal, such as exporter-2, got "${podName(env)}"; set POD_NAME`;
  }
  if (index === undefined || index >= total) {
    return `--shard: expected auto, or an integer from 0 to ${total - 1} for ${total} shards, got "${index ?? flags.shard}"`;
  }
  return { index, total };
}

/** The pod's name: POD_NAME, or else the host name, which Kubernetes sets to it. */
function podName(env: Environment): string {
  return env['POD_NAME'] ?? env['HOSTNAME'] ?? '';
}

function podOrdinal(name: string): number | undefined {
  const ordinal = /-(\d+)$/.exec(name)?.[1];
  return ordinal === undefined ? undefined : wholeNumberIn(ordinal);
}

function wholeNumberIn(text: string): number | undefined {
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** The flags for the log; without them, the configuration decides. */
export interface LogFlags {
  readonly 'log.level'?: Config['log']['level'];
  readonly 'log.format'?: Config['log']['format'];
}

export function logLevelOption(otherwise = 'from the configuration, or else info'): Option {
  return new Option('--log.level <level>', `minimum level of log lines (default: ${otherwise})`).choices(
    LOG_LEVELS,
  );
}

export function logFormatOption(
  otherwise = 'from the configuration, or else pretty in a terminal, json otherwise',
): Option {
  return new Option('--log.format <format>', `format of log lines (default: ${otherwise})`).choices(
    LOG_FORMATS,
  );
}
