import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { DoctorReport, FoundProblem, PanelReport, ServerReport } from '../../../src/doctor/report.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';

/** A server that streams, or that has a problem with this cause. */
export function serverReport(name: string, cause?: CauseCode): ServerReport {
  return {
    name,
    id: `${name}-id`,
    node: 'node-1',
    result: cause === undefined ? 'ok' : 'failed',
    condition: cause === undefined ? 'streaming' : 'failing',
    state: cause === undefined ? 'running' : 'unknown',
    players: undefined,
    problems: cause === undefined ? [] : [{ cause, detail: `${name} has trouble` }],
    held: undefined,
  };
}

/** A problem of the panel. With changes, also of nodes or servers. */
export function problem(cause: CauseCode, changes: Partial<FoundProblem> = {}): FoundProblem {
  const { remedy } = CAUSES[cause];
  return { cause, detail: 'it was seen', result: 'failed', remedy, nodes: [], servers: [], ...changes };
}

/** A panel that responds and accepts the key. */
export function panelReport(changes: Partial<PanelReport> = {}): PanelReport {
  return {
    name: 'main',
    url: 'https://panel.example.com',
    up: true,
    problems: [],
    budget: {
      limitPerMinute: 192,
      isPinned: false,
      usedLastMinute: 0,
      queueLength: 0,
      paused: false,
      knownLimitPerMinute: 240,
    },
    needs: { requiredCallsPerMinute: 1.55, requiredSockets: 2, allowedSockets: 2, polls: 0 },
    servers: [],
    selection: undefined,
    calls: 7,
    isListRead: true,
    listedNames: [],
    ...changes,
  };
}

export function doctorReport(...panels: readonly PanelReport[]): DoctorReport {
  return { panels, stopped: false, durationMs: 2_500 };
}

/** A report on a panel without problems, and one with problems. */
export const ALL_WELL = doctorReport(
  panelReport({ servers: [{ ...serverReport('survival'), players: 12 }, serverReport('creative')] }),
);
export const TROUBLED = doctorReport(
  panelReport({
    servers: [serverReport('survival'), serverReport('creative', 'origin')],
    problems: [
      problem('origin', { nodes: ['fra-1'], servers: ['creative'] }),
      problem('limit_unknown', { result: 'warning' }),
    ],
  }),
);
