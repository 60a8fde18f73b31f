import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { type ListenFlag, listenAddressOption, parseShard } from '../../../src/commands/serve-flags.ts';

describe('the addresses to listen on', () => {
  it.each([
    ['the default', [], [{ host: '127.0.0.1', port: 10_317 }]],
    ['one', [':9000'], [{ port: 9_000 }]],
    [
      'several',
      ['127.0.0.1:0', '[::1]:0'],
      [
        { host: '127.0.0.1', port: 0 },
        { host: '::1', port: 0 },
      ],
    ],
  ])('are %s', (_, given, expected) => {
    const command = new Command().addOption(listenAddressOption('127.0.0.1:10317'));
    command.parse(
      given.flatMap((address) => ['--web.listen-address', address]),
      { from: 'user' },
    );
    expect(command.opts<ListenFlag>()['web.listenAddress']).toEqual(expected);
  });
});

describe('the shard from flags and environment', () => {
  it.each([
    ['not set', {}, {}, { index: 0, total: 1 }],
    ['both flags', { shard: '2', totalShards: '5' }, {}, { index: 2, total: 5 }],
    [
      'the count from the environment',
      { shard: '0', totalShards: undefined },
      { TOTAL_SHARDS: '3' },
      { index: 0, total: 3 },
    ],
    [
      'the flag takes precedence over the environment',
      { shard: '4', totalShards: '5' },
      { TOTAL_SHARDS: '3' },
      { index: 4, total: 5 },
    ],
    [
      'the ordinal from the pod name',
      { shard: 'auto', totalShards: '12' },
      { POD_NAME: 'exporter-10' },
      { index: 10, total: 12 },
    ],
    [
      'the ordinal from the host name',
      { shard: 'auto', totalShards: '3' },
      { HOSTNAME: 'game-exporter-2' },
      { index: 2, total: 3 },
    ],
  ])('%s', (_what, flags, env, expected) => {
    expect(parseShard(flags as never, env)).toEqual(expected);
  });

  it.each([
    ['a count alone', { totalShards: '5' }, {}, '--total-shards requires --shard'],
    ['an ordinal alone', { shard: '1' }, {}, '--shard requires --total-shards'],
    [
      'an ordinal that is too high',
      { shard: '5', totalShards: '5' },
      {},
      'from 0 to 4 for 5 shards, got "5"',
    ],
    ['a negative ordinal', { shard: '-1', totalShards: '5' }, {}, 'got "-1"'],
    ['a word', { shard: 'first', totalShards: '5' }, {}, 'got "first"'],
    ['zero shards', { shard: '0', totalShards: '0' }, {}, 'at least 1, got "0"'],
    ['a pod ordinal above the count', { shard: 'auto', totalShards: '3' }, { POD_NAME: 'e-3' }, 'got "3"'],
    [
      'a pod name without an ordinal',
      { shard: 'auto', totalShards: '3' },
      { HOSTNAME: 'e-5f7c' },
      'set POD_NAME',
    ],
  ])('is rejected with a message: %s', (_what, flags, env, words) => {
    expect(parseShard(flags, env)).toContain(words);
  });
});
