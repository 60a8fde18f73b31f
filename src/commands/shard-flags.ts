import { type Shard, WHOLE } from '../fleet/shard.ts';

/** What says which shard this is: the flags as they were given. */
export interface ShardFlags {
  readonly shard?: string;
  readonly totalShards?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The shard that flags and environment name, or in words what is wrong with them. The flags are those of kube-state-metrics;
 * `auto` takes the ordinal that ends a StatefulSet's pod name.
 */
export function parseShard(flags: ShardFlags, env: Environment): Shard | string {
  const count = flags.totalShards ?? env['TOTAL_SHARDS'];
  if (flags.shard === undefined && count === undefined) return WHOLE;
  if (flags.shard === undefined) return '--total-shards needs --shard: which of them is this one?';
  if (count === undefined) return '--shard needs --total-shards, or TOTAL_SHARDS in the environment';
  const total = wholeNumberIn(count);
  if (total === undefined || total < 1)
    return `--total-shards: expected a whole number of at least 1, got "${count}"`;
  const index = flags.shard === 'auto' ? ordinalOf(podName(env)) : wholeNumberIn(flags.shard);
  if (index === undefined && flags.shard === 'auto') {
    return `--shard=auto: expected a pod name that ends in an ordinal, such as exporter-2, got "${podName(env)}"; set POD_NAME`;
  }
  if (index === undefined || index >= total) {
    return `--shard: expected auto, or a whole number from 0 to ${total - 1} for ${total} shards, got "${index ?? flags.shard}"`;
  }
  return { index, total };
}

/** Kubernetes names the host after the pod; POD_NAME is for pods that name it otherwise. */
function podName(env: Environment): string {
  return env['POD_NAME'] ?? env['HOSTNAME'] ?? '';
}

function ordinalOf(name: string): number | undefined {
  const ordinal = /-(\d+)$/.exec(name)?.[1];
  return ordinal === undefined ? undefined : wholeNumberIn(ordinal);
}

function wholeNumberIn(text: string): number | undefined {
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}
