// The numbers of a server for the page, rounded as they are displayed; `amounts.ts` writes them.
import type { FieldName } from '../../domain/server-fields.ts';
import { MIB } from '../../domain/units.ts';

/** The rounding of each number. More digits would be sent but not displayed. */
export const SHOWN_NUMBERS = {
  memory_usage_bytes: roundedSize,
  memory_limit_bytes: Number,
  cpu_usage_cores: hundredths,
  cpu_limit_cores: hundredths,
  disk_usage_bytes: roundedSize,
  disk_limit_bytes: Number,
  network_receive_bytes_per_second: twoDigits,
  network_transmit_bytes_per_second: twoDigits,
  start_time_seconds: Math.floor,
  starts_total: Number,
  expected_running: Number,
  backups: Number,
  backup_last_success_timestamp_seconds: Math.floor,
  backup_last_failure_timestamp_seconds: Math.floor,
  backup_last_size_bytes: roundedSize,
  players: Number,
  players_max: Number,
} satisfies Readonly<Partial<Record<FieldName, (value: number) => number>>>;

/** A number that is sent to the page. */
export type ShownNumber = keyof typeof SHOWN_NUMBERS;

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Rounded to three significant digits in MiB. */
function roundedSize(bytes: number): number {
  return shortened(bytes / MIB, 3) * MIB;
}

function twoDigits(value: number): number {
  return shortened(value, 2);
}

/** A whole number, rounded to this many significant digits. */
function shortened(value: number, digits: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) + 1 - digits);
  return Math.round(value / unit) * unit;
}
