import { NODE_REMEDIES } from './remedies-node.ts';
import { PANEL_REMEDIES } from './remedies-panel.ts';
import { BLOCKED_REMEDIES, SERVER_REMEDIES } from './remedies-server.ts';
import type { Remedy } from './remedy.ts';

/** What to do about each cause. */
export const REMEDIES = {
  ...PANEL_REMEDIES,
  ...BLOCKED_REMEDIES,
  ...SERVER_REMEDIES,
  ...NODE_REMEDIES,
} as const satisfies Readonly<Record<string, Remedy>>;

/** Why a step failed or warns: a closed set, which the JSON document names. */
export type Cause = keyof typeof REMEDIES;
