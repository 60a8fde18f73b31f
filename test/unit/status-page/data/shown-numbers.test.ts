import { describe, expect, it } from 'vitest';
import { MIB } from '../../../../src/domain/units.ts';
import { SHOWN_NUMBERS, type ShownNumber } from '../../../../src/status-page/data/shown-numbers.ts';

describe('a number of the page', () => {
  it.each<[what: string, ShownNumber, value: number, shown: number]>([
    ['three digits of a size in MiB', 'memory_usage_bytes', 1_234.4 * MIB, 1_230 * MIB],
    ['whole MiB of a small size', 'disk_usage_bytes', 12.3 * MIB, 12 * MIB],
    ['every byte of a limit', 'memory_limit_bytes', 4_509_715_661, 4_509_715_661],
    ['hundredths of a core', 'cpu_usage_cores', 1.526, 1.53],
    ['two digits of a rate', 'network_receive_bytes_per_second', 12_949, 13_000],
    ['whole bytes of a low rate', 'network_transmit_bytes_per_second', 7.4, 7],
    ['whole seconds of an instant', 'start_time_seconds', 1_699_914_599.9, 1_699_914_599],
  ])('has %s', (_what, name, value, shown) => {
    expect(SHOWN_NUMBERS[name](value)).toBe(shown);
  });

  it.each(Object.keys(SHOWN_NUMBERS) as ShownNumber[])(
    '%s stays the same when it is rounded again',
    (name) => {
      const once = SHOWN_NUMBERS[name](1_234_567.891);
      expect(SHOWN_NUMBERS[name](once)).toBe(once);
    },
  );
});
