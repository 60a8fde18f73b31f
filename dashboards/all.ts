import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { exporter } from './exporter/exporter.ts';
import { fleet } from './fleet/fleet.ts';
import { server } from './server/server.ts';

/** Every dashboard, keyed by its file name in `deploy/grafana/dashboards`. */
export const DASHBOARDS: Readonly<Record<string, Dashboard>> = {
  'fleet.json': fleet,
  'server.json': server,
  'exporter.json': exporter,
};
