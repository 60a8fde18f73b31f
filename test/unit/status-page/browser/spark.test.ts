import { expect, it } from 'vitest';
import { sparkPaths } from '../../../../src/status-page/browser/spark.ts';

it('a sparkline has gaps without data, and its highest value is at the top', () => {
  const { line, area } = sparkPaths([1, 2, null, 0], 30, 10);
  expect(line).toBe('M0.0 5.0L10.0 0.0M30.0 10.0');
  expect(area).toBe('M0.0 10L0.0 5.0L10.0 0.0L10.0 10ZM30.0 10L30.0 10.0L30.0 10Z');
});
