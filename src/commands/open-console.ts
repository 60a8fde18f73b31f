import type { PanelConfig } from '../config/config.ts';
import { ConsoleRun, type Plan } from '../console/console-run.ts';
import { explainTrouble } from '../console/explain.ts';
import { NO_TELEMETRY } from '../console/link.ts';
import type { Screen } from '../console/screen.ts';
import type { Clock } from '../domain/clock.ts';
import { printable } from '../domain/printable.ts';
import type { ServerTarget } from '../domain/server.ts';
import { PanelApi } from '../panel/api.ts';
import { PanelError, type PanelErrorKind } from '../panel/errors.ts';
import { apiAccess, socketAccess } from '../panel-access.ts';
import { CommandFailure } from './failure.ts';

/** Which console is opened, and with whose key. */
export interface ConsoleOptions {
  /** With the key that is to be used. */
  readonly panel: PanelConfig;
  readonly target: ServerTarget;
  /** Where the key came from, in words. */
  readonly keySource: string;
  readonly plan: Plan;
  readonly screen: Screen;
  readonly clock: Clock;
  readonly random: () => number;
}

/** The client API of a panel; throws a CommandFailure where the environment's proxy is none. */
export function panelApi(panel: PanelConfig, clock: Clock): PanelApi {
  try {
    return new PanelApi({ ...apiAccess(panel), telemetry: NO_TELEMETRY, clock });
  } catch (error) {
    throw new CommandFailure((error as Error).message, { cause: error });
  }
}

/** Joins the parts of a console; nothing is opened before it is run. */
export function createConsole(options: ConsoleOptions, api: PanelApi): ConsoleRun {
  const { panel, target, keySource, plan, screen, clock, random } = options;
  const { origin, connectTimeoutMs, authTimeoutMs } = panel;
  const { openSocket, addressProblem } = socketAccess(panel, clock);
  let kind: PanelErrorKind | undefined;
  const credentials = async (signal: AbortSignal) => {
    try {
      const { value } = await api.credentials(target.id, signal);
      kind = undefined;
      return value;
    } catch (error) {
      kind = error instanceof PanelError ? error.kind : undefined;
      throw error;
    }
  };
  return new ConsoleRun(plan, {
    name: printable(target.name),
    panel: printable(panel.name),
    link: {
      target,
      clock,
      random,
      credentials,
      origin,
      connectTimeoutMs,
      authTimeoutMs,
      openSocket,
      addressProblem,
    },
    screen,
    clock,
    secrets: [panel.apiKey.reveal()],
    explain: (trouble) => explainTrouble(trouble, { kind, keySource }),
  });
}
