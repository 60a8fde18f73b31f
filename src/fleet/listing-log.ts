// Logs the results of walks through a panel's server list.

import { CAUSES } from '../diagnosis/causes.ts';
import type { Logger } from '../domain/logger.ts';
import type { Problem } from '../domain/problems.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { toProblem } from '../panel/panel-error.ts';
import { printable } from '../text/printable.ts';
import { listed, NAMES_SHOWN } from '../text/sentences.ts';
import { unlistedIn } from './discovered-targets.ts';
import type { ListingState } from './listing-state.ts';
import type { ListingWalk } from './listing-walk.ts';

interface ListingLogOptions {
  readonly panel: string;
  readonly log: Logger;
  readonly gateway: Pick<PanelGateway, 'health'>;
}

/** The facts that a walk ends with. */
interface Walked {
  readonly configured: readonly ServerTarget[];
  readonly before: ListingState;
  readonly after: ListingState;
  /** Whether servers are discovered, so that the list is needed for more than facts. */
  readonly isDiscovering: boolean;
  /** Whether the account has no access to the list, and needs none. */
  readonly isRefused: boolean;
}

/**
 * Logs when walks start to fail, when they work again, and which configured servers are missing.
 */
export class ListingLog {
  readonly #options: ListingLogOptions;
  /** Whether the last walk had a problem that was logged. */
  #isFailing = false;

  constructor(options: ListingLogOptions) {
    this.#options = options;
  }

  /** Logs the result of a walk. */
  walked({ problem, complete }: ListingWalk, seen: Walked): void {
    const { panel, log, gateway } = this.#options;
    const { configured, before, isDiscovering, isRefused } = seen;
    const { known, shortSince } = seen.after;
    const say = (level: 'debug' | 'info' | 'warn', text: string, fields: Partial<Problem> = {}) =>
      log[level]({ panel, ...fields }, `panel ${panel}: ${text}`);
    if (complete && before.shortSince === undefined && shortSince !== undefined)
      say('info', 'the server list lacks more than half of the known servers: keeping them for 30 min');
    if (problem === undefined) {
      if (this.#isFailing) say('info', 'server list available again');
      this.#isFailing = false;
      const unlisted = unlistedIn(configured, known.keys()).map(({ name }) => name);
      if (!isDiscovering && before.completeAt === undefined && unlisted.length > 0)
        say(
          'warn',
          `${unlisted.length} of ${configured.length} configured servers are not in the account's server list: ${listed(unlisted, NAMES_SHOWN)}. Only configured limits are known of these. Check their ids, or add the account to them.`,
        );
      return;
    }
    const { cause } = toProblem(problem);
    const { scope, severity } = CAUSES[cause];
    // Problems with the panel or its API key are reported once, by the servers' own calls.
    const isReported = severity === 'error' && (scope === 'panel' || scope === 'key');
    if (gateway.health !== 'up' && (!isDiscovering || isReported)) return;
    const what = isRefused
      ? 'server list rejected: node, egg and limits are unknown, except for configured limits; set `limits_from_listing: false` to stop retrying'
      : complete
        ? 'server list has unreadable entries: ignoring them'
        : known.size + configured.length > 0
          ? 'server list incomplete: keeping the known servers'
          : 'server list unavailable: no servers known yet';
    const detail = printable(problem.message);
    say(this.#isFailing ? 'debug' : 'warn', `${what}; last error: ${detail}`, { cause, detail });
    this.#isFailing = true;
  }
}
