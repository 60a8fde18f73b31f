// The current usage of every server in the storm's fleet.

import { MIB } from '../../src/domain/units.ts';
import type { GameUsage } from '../../src/simulator/game-server.ts';

const RX_PER_SECOND = 12_000;
const TX_PER_SECOND = 40_000;

export function gameUsage(): GameUsage {
  const seconds = performance.now() / 1_000;
  const swing = Math.sin(seconds);
  return {
    memoryBytes: Math.round(1_800 * MIB * (1 + 0.02 * swing)),
    memoryLimitBytes: 4_300 * MIB,
    cpuAbsolute: Math.round(1_000 * (60 + 8 * swing)) / 1_000,
    diskBytes: 5_120 * MIB,
    rxBytes: Math.round(RX_PER_SECOND * seconds),
    txBytes: Math.round(TX_PER_SECOND * seconds),
    readBytes: Math.round(2_000 * seconds),
    writtenBytes: Math.round(20_000 * seconds),
    uptimeMs: Math.round(3_600_000 + seconds * 1_000),
  };
}
