import { it } from 'vitest';
import { renderMetricTable, renderSelfMetricTable } from '../../src/metrics/table.ts';
import { expectSection } from '../support/generated.ts';

it('the metric tables are what the code defines', () => {
  expectSection('README.md', 'metrics', renderMetricTable());
  expectSection('README.md', 'self-metrics', renderSelfMetricTable());
});
