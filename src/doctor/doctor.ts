import { type DoctorPanel, PanelTrial, type Tools } from './panel-trial.ts';
import type { DoctorReport, PanelReport } from './report.ts';
import { uncallable } from './untried.ts';

/** Tries every panel, side by side, and every server of each once; ends by itself, and soon after the signal aborts. */
export async function examine(panels: readonly DoctorPanel[], tools: Tools): Promise<DoctorReport> {
  const { clock, signal } = tools;
  const startedAt = clock.now();
  const reports = await Promise.all(panels.map((panel) => examineOne(panel, tools)));
  return { panels: reports, stopped: signal.aborted, durationMs: clock.now() - startedAt };
}

function examineOne(panel: DoctorPanel, tools: Tools): Promise<PanelReport> {
  let trial: PanelTrial;
  try {
    trial = new PanelTrial(panel, tools);
  } catch (error) {
    return Promise.resolve(uncallable(panel, error));
  }
  return trial.run();
}
