import { onTestFinished } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import { type ExporterOptions, type ExporterUnderTest, fastClock, startExporter } from './exporter.ts';

/** Starts a simulated panel, which runs until the test is over. */
export async function simulated(options: SimulatorOptions = {}): Promise<Simulator> {
  const panel = await startSimulator({ clock: fastClock(), ...options });
  onTestFinished(() => panel.stop());
  return panel;
}

/** Starts an exporter, which runs until the test is over. */
export async function observed(options: ExporterOptions): Promise<ExporterUnderTest> {
  const exporter = await startExporter(options);
  onTestFinished(() => exporter.stop());
  return exporter;
}

/** A panel's entry in a configuration, with these further lines. */
export const panelEntry = (
  { url, apiKey }: Pick<Simulator, 'url' | 'apiKey'>,
  lines: readonly string[],
  name = 'main',
) =>
  [`  - name: ${name}`, ...[`url: ${url}`, `api_key: ${apiKey}`, ...lines].map((line) => `    ${line}`)].join(
    '\n',
  );

/** A configuration with one panel. */
export const yamlOf = (panel: Pick<Simulator, 'url' | 'apiKey'>, lines: readonly string[]) =>
  `panels:\n${panelEntry(panel, lines)}`;
