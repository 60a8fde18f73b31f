import { expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { codesSeenBy, SERVER_PROBLEMS } from '../../../src/diagnosis/server-problems.ts';

it('the exporter and the recording rules recognize these problems, most urgent first', () => {
  expect({ exporter: codesSeenBy('exporter'), rules: codesSeenBy('rules') }).toEqual({
    exporter: [
      'crashed',
      'gave_up',
      'off',
      'no_data',
      'crash_loop',
      'stuck',
      'not_answering',
      'cpu_saturated',
      'disk_nearly_full',
      'unclear',
    ],
    rules: [
      'stopped_disk_full',
      'gave_up',
      'off',
      'no_data',
      'crash_loop',
      'stuck',
      'not_answering',
      'cpu_saturated',
      'disk_nearly_full',
      'disk_filling',
      'memory_full',
      'backup_failed',
      'recent_crash',
    ],
  });
});

it('errors come first, then warnings', () => {
  const severities = Object.values(SERVER_PROBLEMS).map(({ severity }) => severity);
  const order = ['error', 'warning', 'fact'];
  expect(severities).toEqual(severities.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)));
});

it('no problem of a server has the code of a cause: both are values of the label `problem`', () => {
  expect(Object.keys(SERVER_PROBLEMS).filter((code) => code in CAUSES)).toEqual([]);
});
