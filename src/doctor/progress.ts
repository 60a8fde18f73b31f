import type { Finding, PanelStep, ServerReport, ServerStep } from './report.ts';

/** Told what the doctor does while it does it. */
export interface Progress {
  /** A panel's step is done. */
  panelStep(panel: string, finding: Finding<PanelStep>): void;
  /** From now on so many servers of a panel are tried, which is likely to take so long. */
  planned(panel: string, servers: number, durationMs: number): void;
  /** A step of a server begins. */
  began(panel: string, server: string, step: ServerStep): void;
  serverDone(panel: string, report: ServerReport): void;
  /** Something holds a panel's calls up. */
  note(panel: string, words: string): void;
}

/** Shows nothing. */
export const SILENT_PROGRESS: Progress = {
  panelStep: () => undefined,
  planned: () => undefined,
  began: () => undefined,
  serverDone: () => undefined,
  note: () => undefined,
};
