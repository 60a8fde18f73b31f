// The metric families of the exporter itself.
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import { fleetReading } from './readings.ts';

interface Registered {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

const { families } = new SelfMetrics({ version: '1.2.3', revision: 'abc', fleet: fleetReading([]) });

/** All families except for the process and Node.js families of prom-client. */
export const SELF_FAMILIES = (families as readonly unknown[] as readonly Registered[]).map(
  ({ name, help, type, labelNames: labels }) => ({ name, help, type, labels }),
);
