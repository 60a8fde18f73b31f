import {
  type DoctorReport,
  failed,
  PANEL_STEPS,
  type PanelReport,
  passed,
  SERVER_STEPS,
  type ServerReport,
  skipped,
  warned,
} from '../../../src/doctor/report.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';

/** A server that is healthy, or fails at a step with a cause. */
export function serverReport(
  name: string,
  step?: (typeof SERVER_STEPS)[number],
  cause?: CauseCode,
): ServerReport {
  const at = step === undefined ? SERVER_STEPS.length : SERVER_STEPS.indexOf(step);
  const steps = SERVER_STEPS.map((one, index) => {
    if (index < at) return passed(one, 'fine');
    return index === at && cause !== undefined
      ? failed(one, cause, `${name} has trouble`)
      : skipped(one, 'not tried');
  });
  return { name, id: `${name}-id`, steps, durationMs: 1_500 };
}

/** A panel that is reachable, with a warning if a cause is given. */
export function panelReport(servers: readonly ServerReport[], warning?: CauseCode): PanelReport {
  const steps = PANEL_STEPS.map((step) =>
    step === 'limit' && warning !== undefined
      ? warned(step, warning, 'the limit is odd')
      : passed(step, 'fine'),
  );
  return { name: 'main', url: 'https://panel.example.com', steps, servers, calls: 7, durationMs: 2_000 };
}

export function doctorReport(...panels: readonly PanelReport[]): DoctorReport {
  return { panels, stopped: false, durationMs: 2_500 };
}
