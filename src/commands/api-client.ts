// Creates the API client of a panel for commands that call it directly.

import { systemNames } from '../addresses/name-lookups.ts';
import { apiAccess, spokenDialect } from '../app/panel-access.ts';
import type { PanelConfig } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { PanelApi } from '../panel/panel-api.ts';
import { CommandFailure } from './command-failure.ts';

/**
 * The client API of a panel; throws a CommandFailure if the proxy in the environment is invalid.
 */
export function panelApi(panel: PanelConfig, clock: Clock, dialect = spokenDialect(panel)): PanelApi {
  try {
    return new PanelApi({
      ...apiAccess(panel, clock, systemNames().forPanel()),
      telemetry: {},
      dialect,
    });
  } catch (error) {
    throw new CommandFailure((error as Error).message, { cause: error });
  }
}
