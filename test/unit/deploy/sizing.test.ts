import { describe, expect, it } from 'vitest';
import { DEFAULT_MAX_SERVERS } from '../../../src/config/config.ts';
import { MIB } from '../../../src/domain/units.ts';
import { readText } from '../../support/deploy-files.ts';

/** A row of the table in docs/install.md. */
interface Size {
  readonly servers: number;
  readonly peakMb: number;
  readonly limitMib: number;
  readonly cpuPercent: number;
  readonly descriptors: number;
}

const table = /<!-- begin sizing -->([^]*?)<!-- end sizing -->/.exec(readText('docs/install.md'))?.[1] ?? '';

const sizes: readonly Size[] = table
  .split('\n')
  .filter((line) => /^\| [\d,]+ \|/.test(line))
  .map((line) => {
    const numbers = line.split('|').map((cell) => Number.parseFloat(cell.replaceAll(',', '')));
    const [, servers = 0, peakMb = 0, limitMib = 0, cpuPercent = 0, descriptors = 0] = numbers;
    return { servers, peakMb, limitMib, cpuPercent, descriptors };
  });

/** Twice the peak, rounded up to 512 MiB. */
const limitOf = (peakMb: number) => Math.ceil((2 * peakMb * 1e6) / (512 * MIB)) * 512;

const sizeOf = (servers: number) => sizes.find((size) => size.servers === servers);

/** The linear interpolation between the nearest sizes. */
function between(servers: number, value: (size: Size) => number): number {
  const after = sizes.findIndex((size) => size.servers > servers);
  const [low, high] = [sizes[after - 1], sizes[after]];
  if (low === undefined || high === undefined) return Number.NaN;
  const share = (servers - low.servers) / (high.servers - low.servers);
  return value(low) + share * (value(high) - value(low));
}

describe('the table of sizes in docs/install.md', () => {
  it('has a row for the default of discover.max_servers', () => {
    expect(sizes.map(({ servers }) => servers)).toEqual([1_000, 10_000, DEFAULT_MAX_SERVERS, 19_000]);
  });

  it.each(sizes)('derives the limits for $servers servers from the peak', (size) => {
    const { servers, peakMb, limitMib, descriptors } = size;
    expect(limitMib).toBe(limitOf(peakMb));
    expect(limitMib * MIB).toBeGreaterThan(peakMb * 1e6 + 250 * 1e6);
    expect(descriptors).toBe(servers + 300);
  });
});

describe('deployment limits', () => {
  it('of systemd match the default of discover.max_servers', () => {
    const unit = readText('deploy/systemd/gameserver-exporter.service');
    expect(/^MemoryMax=(\d+)M$/m.exec(unit)?.[1]).toBe(String(sizeOf(DEFAULT_MAX_SERVERS)?.limitMib));
    const files = Number(/^LimitNOFILE=(\d+)$/m.exec(unit)?.[1]);
    expect(files).toBeGreaterThan(sizeOf(DEFAULT_MAX_SERVERS)?.descriptors ?? Number.NaN);
  });

  it.each([
    ['base/stateful-set.yaml', 1_000],
    ['overlays/many/shards.yaml', 10_000 / 3],
  ])('of Kubernetes in %s match %i servers', (file, servers) => {
    const manifest = readText(`deploy/kubernetes/${file}`);
    const [, cpu, requested, limit] =
      /cpu: (\d+)m\s+memory: (\d+)Mi\s+limits:\s+memory: (\d+)[MG]i/.exec(manifest) ?? [];
    const unit = manifest.includes(`${limit}Gi`) ? 1_024 : 1;
    const peakMb = between(servers, (size) => size.peakMb);
    expect(Number(limit) * unit).toBe(limitOf(peakMb));
    expect(Number(requested) * MIB).toBeGreaterThan(peakMb * 1e6);
    expect(Number(cpu)).toBeGreaterThan(between(servers, (size) => size.cpuPercent) * 10);
  });
});
