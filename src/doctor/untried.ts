import type { ServerTarget } from '../domain/server.ts';
import { wordsOf } from './attempt.ts';
import { failed, PANEL_STEPS, type PanelReport, type ServerReport, skipped } from './report.ts';
import { untriedServer } from './server-steps.ts';

export const NOT_REACHED = 'not tried: the panel was not reached';
export const LOST = 'not tried: the panel was lost';
export const NO_KEY = 'not tried: the key was not accepted';

interface Called {
  readonly name: string;
  readonly url: string;
  readonly targets: readonly ServerTarget[];
}

/** The report on a panel that can't even be called. */
export function uncallable({ name, url, targets }: Called, error: unknown): PanelReport {
  return {
    name,
    url,
    steps: PANEL_STEPS.map((step) =>
      step === 'reach' ? failed(step, 'proxy', wordsOf(error)) : skipped(step, NOT_REACHED),
    ),
    servers: targets.map((target) => untried(target, NOT_REACHED)),
    calls: 0,
    durationMs: 0,
  };
}

/** The report on a server of which nothing was tried. */
export function untried({ name, id }: ServerTarget, why: string): ServerReport {
  return { name, id, steps: untriedServer(why), durationMs: 0 };
}
