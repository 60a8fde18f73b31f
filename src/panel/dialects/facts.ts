/** Facts about each dialect that other parts of the program need. */

/** The data of a dialect. Its behavior is in its `Dialect`. */
export interface DialectFacts {
  /** The value for the setting `panel`. */
  readonly name: string;
  /** The names of the panels with this API. */
  readonly panels: readonly string[];
  /** The prefixes of its API keys. */
  readonly keys: KeyPrefixes;
  /** Whether the panel counts calls by the client's address and not by its account. */
  readonly limitsAddresses?: true;
  /** The daemons in the paths of its servers. */
  readonly daemons: readonly string[];
  /** The panel's name for the permission that an account, or its key, needs for an endpoint. */
  readonly permissions: Readonly<Partial<Record<PermittedEndpoint, string>>>;
  /** The permission that an account needs for a server's console; absent if there is none. */
  readonly consolePermission?: string;
  /** How to give an account that permission, in sentences. */
  readonly consoleGrant?: string;
  /** The text with which its daemon rejects calls from others than the panel. */
  readonly daemonRefusal?: RegExp;
  /** Text that only the panel's own web pages contain. */
  readonly ownPage?: RegExp;
}

type PermittedEndpoint = 'listing' | 'backups' | 'schedules';

/**
 * A client key has the rights of one account. An application key administers the panel, and the
 * client API rejects it. Prefixes in `either` belong to both kinds, and names of servers may also
 * begin with them.
 */
type KeyPrefixes = Readonly<Partial<Record<'client' | 'application' | 'either', readonly string[]>>>;

export const PTERODACTYL_FACTS = {
  name: 'pterodactyl',
  panels: ['Pterodactyl', 'Pelican'],
  // app/Models/ApiKey.php: Pterodactyl, Pelican, and Pelican until September 2025.
  keys: { client: ['ptlc_', 'pacc_', 'plcn_'], application: ['ptla_', 'papp_', 'peli_'] },
  daemons: [],
  // app/Models/Permission.php.
  permissions: { backups: 'backup.read', schedules: 'schedule.read' },
  consolePermission: 'websocket.connect',
  consoleGrant:
    "In the panel, open the server → Users → the key's account, and save. Pterodactyl then adds `websocket.connect`, which it doesn't show.",
  // router/middleware of pterodactyl/wings and pelican/wings.
  daemonRefusal:
    /required authorization head(?:er)?s were not present|not authorized to access this endpoint/i,
  ownPage: /\b(?:SiteConfiguration|PterodactylUser)\b/i,
} as const satisfies DialectFacts;

export const HYDRODACTYL_FACTS = {
  ...PTERODACTYL_FACTS,
  name: 'hydrodactyl',
  panels: ['Hydrodactyl'],
  // The prefixes of Pyrodactyl and of Hydrodactyl itself.
  keys: { either: ['pyro_', 'hydro_'] },
  // app/Enums/Daemon/DaemonType.php.
  daemons: ['wings', 'elytra'],
} as const satisfies DialectFacts;

/**
 * Calagopus has no application API, and gives console credentials to everyone who may see the
 * server.
 */
export const CALAGOPUS_FACTS = {
  name: 'calagopus',
  panels: ['Calagopus'],
  // shared/src/models/user_api_key.rs.
  keys: { client: ['c7sp_'] },
  // backend/src/routes/api/client/mod.rs.
  limitsAddresses: true,
  daemons: [],
  // backend/src/routes/api/client/servers.
  permissions: { listing: 'servers.read', backups: 'backups.read', schedules: 'schedules.read' },
} as const satisfies DialectFacts;

const ALL = [PTERODACTYL_FACTS, HYDRODACTYL_FACTS, CALAGOPUS_FACTS] as const;

export const DIALECT_FACTS: readonly DialectFacts[] = ALL;

export type DialectName = (typeof ALL)[number]['name'];
export const DIALECT_NAMES: readonly DialectName[] = ALL.map(({ name }) => name);

/** All daemons that occur in paths of servers. */
export const DAEMONS = [...new Set(DIALECT_FACTS.flatMap(({ daemons }) => daemons))];

/** The names of the panels whose dialects pass this test, as a list within a sentence. */
export function panelsWith(isMeant: (facts: DialectFacts) => boolean): string {
  return joinNames(DIALECT_FACTS.filter(isMeant).flatMap(({ panels }) => panels));
}

/** The names in the form `a, b and c`. */
export function joinNames(names: readonly string[]): string {
  const [last = '', ...others] = names.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

/** A permission with the first panel's name for it, and the other panels' names in parentheses. */
export function permissionText(permissionIn: (facts: DialectFacts) => string | undefined): string {
  const usual = DIALECT_FACTS.map(permissionIn).find((name) => name !== undefined) ?? '';
  const others = DIALECT_FACTS.filter((facts) => (permissionIn(facts) ?? usual) !== usual).map(
    (facts) => `\`${permissionIn(facts)}\` in ${joinNames(facts.panels)}`,
  );
  return others.length === 0 ? `\`${usual}\`` : `\`${usual}\` (${others.join(', ')})`;
}

/** The remedy for a missing console permission. */
export const CONSOLE_GRANT = [
  ...new Set(DIALECT_FACTS.flatMap(({ consoleGrant }) => consoleGrant ?? [])),
].join(' ');
