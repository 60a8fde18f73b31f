import type { Cause } from './causes.ts';

/** What is tried of each panel, in the order in which it is shown. */
export const PANEL_STEPS = ['reach', 'key', 'limit', 'listing', 'clock'] as const;
export type PanelStep = (typeof PANEL_STEPS)[number];

/** What is tried of each server, in the order in which it is shown. */
export const SERVER_STEPS = ['found', 'credentials', 'upgrade', 'auth', 'stats', 'resources'] as const;
export type ServerStep = (typeof SERVER_STEPS)[number];

/** How a step went; a warning is no failure, and what was skipped says nothing either way. */
export type StepResult = 'ok' | 'warning' | 'failed' | 'skipped';

/** What one step showed. */
export interface Finding<Step extends string = PanelStep | ServerStep> {
  readonly step: Step;
  readonly result: StepResult;
  /** In plain words: what was seen, what is wrong, or why nothing was tried; never a secret. */
  readonly detail: string;
  /** Set for warnings and failures. */
  readonly cause?: Cause;
}

export interface ServerReport {
  readonly name: string;
  readonly id: string;
  /** One for each of `SERVER_STEPS`, in their order. */
  readonly steps: readonly Finding<ServerStep>[];
  readonly durationMs: number;
}

export interface PanelReport {
  readonly name: string;
  readonly url: string;
  /** One for each of `PANEL_STEPS`, in their order. */
  readonly steps: readonly Finding<PanelStep>[];
  readonly servers: readonly ServerReport[];
  /** Calls of the panel's API that were made. */
  readonly calls: number;
  readonly durationMs: number;
}

/** All that a run of the doctor found out. */
export interface DoctorReport {
  readonly panels: readonly PanelReport[];
  /** The run was stopped before its end. */
  readonly stopped: boolean;
  readonly durationMs: number;
}

export const passed = <Step extends string>(step: Step, detail: string): Finding<Step> => ({
  step,
  result: 'ok',
  detail,
});

export const skipped = <Step extends string>(step: Step, detail: string): Finding<Step> => ({
  step,
  result: 'skipped',
  detail,
});

export const failed = <Step extends string>(step: Step, cause: Cause, detail: string): Finding<Step> => ({
  step,
  result: 'failed',
  detail,
  cause,
});

export const warned = <Step extends string>(step: Step, cause: Cause, detail: string): Finding<Step> => ({
  step,
  result: 'warning',
  detail,
  cause,
});

/** Did nothing fail? */
export function isWell({ steps }: { readonly steps: readonly Finding[] }): boolean {
  return steps.every(({ result }) => result !== 'failed');
}

/** Did nothing fail anywhere, and was everything tried? */
export function isAllWell({ panels, stopped }: DoctorReport): boolean {
  return !stopped && panels.every((panel) => isWell(panel) && panel.servers.every(isWell));
}
