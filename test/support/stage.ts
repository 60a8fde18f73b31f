// Simulated panels and exporters that end with the test.
import { onTestFinished } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import { type ExporterOptions, type ExporterUnderTest, fastClock, startExporter } from './exporter.ts';

/** Starts a simulated panel. It runs until the end of the test. */
export async function simulated(options: SimulatorOptions = {}): Promise<Simulator> {
  const panel = await startSimulator({ clock: fastClock(), ...options });
  onTestFinished(() => panel.stop());
  return panel;
}

/** Starts an exporter. It runs until the end of the test. */
export async function observed(options: ExporterOptions): Promise<ExporterUnderTest> {
  const exporter = await startExporter(options);
  onTestFinished(() => exporter.stop());
  return exporter;
}

/** A panel's entry in a configuration, with additional lines. */
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
