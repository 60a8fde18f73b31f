import type { Temper } from './schema.ts';

/** What a running server of one temper uses; rates are bytes a second, cpu is percent of a core. */
export interface TemperProfile {
  readonly startsRunning: boolean;
  readonly cpu: number;
  /** How far cpu swings to either side, percent of a core. */
  readonly cpuSwing: number;
  /** Share of the memory limit. */
  readonly memory: number;
  readonly rxPerSecond: number;
  readonly txPerSecond: number;
  readonly readPerSecond: number;
  readonly writtenPerSecond: number;
  readonly consoleLinesPerSecond: number;
  /** Milliseconds that a run lasts before the server dies by itself. */
  readonly crashEveryMs?: number;
}

const STEADY: TemperProfile = {
  startsRunning: true,
  cpu: 60,
  cpuSwing: 8,
  memory: 0.45,
  rxPerSecond: 12_000,
  txPerSecond: 40_000,
  readPerSecond: 2_000,
  writtenPerSecond: 20_000,
  consoleLinesPerSecond: 0.2,
};

const IDLE: TemperProfile = {
  ...STEADY,
  cpu: 3,
  cpuSwing: 2,
  memory: 0.25,
  rxPerSecond: 150,
  txPerSecond: 300,
  readPerSecond: 0,
  writtenPerSecond: 500,
  consoleLinesPerSecond: 0,
};

/** Adding a temper is adding a row. */
export const TEMPERS: Readonly<Record<Temper, TemperProfile>> = {
  steady: STEADY,
  busy: {
    ...STEADY,
    cpu: 310,
    cpuSwing: 90,
    memory: 0.88,
    rxPerSecond: 220_000,
    txPerSecond: 1_400_000,
    readPerSecond: 60_000,
    writtenPerSecond: 350_000,
    consoleLinesPerSecond: 3,
  },
  idle: IDLE,
  offline: { ...IDLE, startsRunning: false },
  crashing: { ...STEADY, cpu: 120, cpuSwing: 60, memory: 0.7, crashEveryMs: 120_000 },
  suspended: { ...IDLE, startsRunning: false },
  chatty: { ...STEADY, consoleLinesPerSecond: 1_000 },
};
