// The baseline of the benchmark `scrape`: the same series in prom-client.

import { Counter, Gauge, Registry } from 'prom-client';
import type { ServerTarget } from '../../src/domain/server.ts';
import { shortId } from '../../src/domain/server-ids.ts';
import { type Family, PANEL_FAMILIES, SERVER_FAMILIES, viewPanel } from '../../src/metrics/families.ts';
import { BenchmarkFleet } from './fleet.ts';
import { measureRenders } from './render-measurement.ts';

export type PromClientRenderProgram = Awaited<ReturnType<typeof start>>;

type Labels = Readonly<Record<string, string>>;

/**
 * Renders the same series with the same values in prom-client. Setting the values isn't measured.
 */
export async function start({ servers }: { readonly servers: number }) {
  const fleet = new BenchmarkFleet(servers);
  const registry = new Registry();
  const serverLabels = fleet.servers().map(({ target }) => labelsOf(target));
  const panelLabels = fleet.panels().map(({ name }) => ({ panel: name }));
  const serverMetrics = SERVER_FAMILIES.map((family) => metricOf(family, serverLabels, registry));
  const panelMetrics = PANEL_FAMILIES.map((family) => metricOf(family, panelLabels, registry));
  const setAll = () => {
    const now = fleet.clock.now();
    const snapshots = fleet.servers().map((server) => server.snapshot(now, fleet.clock));
    for (const metric of serverMetrics) metric.set(snapshots);
    const panels = fleet.panels().map((panel) => viewPanel(panel, now));
    for (const metric of panelMetrics) metric.set(panels);
  };
  const update = () => {
    fleet.tick();
    setAll();
  };
  const render = async () => {
    const chunk = Buffer.from(await registry.metrics());
    return { chunks: [chunk], bytes: chunk.length };
  };
  setAll();
  return {
    measure: ({ seconds }: { readonly seconds: number }) => measureRenders({ update, render }, seconds),
  };
}

function labelsOf(target: ServerTarget): Labels {
  const { panel, name, labels } = target;
  return { panel, server: name, server_id: shortId(target), ...labels };
}

function metricOf<Subject>(family: Family<Subject>, common: readonly Labels[], registry: Registry) {
  const { name, help, type, labels: ownNames, read } = family;
  const labelNames = [...Object.keys(common[0] ?? {}), ...ownNames];
  const configuration = { name, help, labelNames, registers: [registry] };
  const metric = type === 'counter' ? new Counter(configuration) : new Gauge(configuration);
  return {
    set: (subjects: readonly Subject[]) => {
      // A counter of prom-client can't be set, only reset to 0 and increased.
      metric.reset();
      for (const [index, subject] of subjects.entries()) {
        const value = read(subject) ?? [];
        const rows = typeof value === 'number' ? [[[], value] as const] : value;
        for (const [ownValues, rowValue] of rows) {
          const own = ownNames.flatMap((ownName, at) => {
            const text = ownValues[at];
            return text === undefined ? [] : [[ownName, text] as const];
          });
          metric.inc({ ...common[index], ...Object.fromEntries(own) }, rowValue);
        }
      }
    },
  };
}
