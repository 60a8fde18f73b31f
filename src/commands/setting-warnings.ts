// The warnings of `check` about settings that don't have the expected effect.

import type { PanelConfig } from '../config/config.ts';
import { matchesEveryServer } from '../doctor/rule-texts.ts';
import { listed } from '../text/sentences.ts';

/** Warnings about settings of a panel that don't have the effect that users expect. */
export function panelWarnings(panel: PanelConfig): readonly string[] {
  return [
    ...(expectsNothing(panel) ? [NEVER_EXPECTED] : []),
    ...unreachedRules(panel),
    ...unknownLimits(panel),
  ];
}

const NEVER_EXPECTED =
  '`expect` is `any` for every server, so no alert fires when one stops: set it to `running` or `auto` for servers that should run';

/**
 * Whether the configuration rules out that any of the panel's servers is expected to run. Then no
 * alert fires when one stops.
 */
function expectsNothing({ servers, listing }: PanelConfig): boolean {
  const rules = listing?.discover?.expect;
  const matchesAll = rules?.findIndex(matchesEveryServer) ?? -1;
  const reached = matchesAll === -1 ? rules : rules?.slice(0, matchesAll + 1);
  // A server that no rule matches is expected to run once it has been seen running.
  const isOpen = listing?.discover !== undefined && matchesAll === -1;
  const states = [...servers.map(({ expect }) => expect), ...(reached ?? []).map(({ state }) => state)];
  return !isOpen && states.every((state) => state === 'any');
}

function unreachedRules({ listing }: PanelConfig): readonly string[] {
  const rules = listing?.discover?.expect ?? [];
  const matchesAll = rules.findIndex(matchesEveryServer);
  const unreached = matchesAll === -1 ? 0 : rules.length - matchesAll - 1;
  if (unreached === 0) return [];
  const which = unreached === 1 ? 'the last rule' : `the last ${unreached} rules`;
  return [
    `${which} of \`discover.expect\` ${unreached === 1 ? 'has' : 'have'} no effect, because rule ${matchesAll + 1} matches every server: move that rule to the end`,
  ];
}

/** The number of servers that a warning lists. */
const NAMED_SERVERS = 5;

/**
 * Without the server list, limits are known only from the configuration. The exception is the
 * memory limit of a server with a console socket.
 */
function unknownLimits({ servers, listing }: PanelConfig): readonly string[] {
  if (listing !== undefined) return [];
  const lacks = [
    ['CPU', servers.filter(({ limits }) => limits.cpuCores === undefined)],
    ['disk', servers.filter(({ limits }) => limits.diskBytes === undefined)],
    ['memory', servers.filter(({ limits, mode }) => mode === 'poll' && limits.memoryBytes === undefined)],
  ] as const;
  return lacks
    .filter(([, lacking]) => lacking.length > 0)
    .map(
      ([what, lacking]) =>
        `\`limits_from_listing\` is off, and no ${what} limit is set for ${listed(
          lacking.map(({ name }) => name),
          NAMED_SERVERS,
        )}, so alerts on that limit can't fire: set \`limits_from_listing: true\`, or \`limits\` for these servers`,
    );
}
