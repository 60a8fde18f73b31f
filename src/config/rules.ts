import { z } from 'zod';
import { identityOf, isSameServer, type ServerTarget } from '../domain/server.ts';
import type { KeyPath } from '../yaml/document.ts';
import { problemOf } from '../yaml/scalars.ts';
import { isClearText } from './values.ts';

type Context = Pick<z.RefinementCtx, 'addIssue'>;

/** Reports a client certificate without its key, or the reverse. */
export function checkTls(tls: object, context: Context): void {
  const [given, other] = 'cert_file' in tls ? ['cert_file', 'key_file'] : ['key_file', 'cert_file'];
  if (given in tls === other in tls) return;
  context.addIssue(problemOf(`expected ${other} as well: a client certificate needs both`, 'key', [given]));
}

/** The settings of a panel that rules concern; each may be missing or invalid. */
interface Panel {
  readonly name?: string;
  readonly url?: string;
  readonly allow_insecure?: boolean;
  readonly discover?: unknown;
  readonly limits_from_listing?: boolean;
  readonly servers?: Servers;
}

type Servers = readonly Partial<Pick<ServerTarget, 'id' | 'name' | 'query'>>[];

/** Reports problems between the settings of a panel. */
export function checkPanel(panel: Panel, context: Context): void {
  const isInline = 'api_key' in panel;
  if (isInline === 'api_key_file' in panel) {
    const message = isInline
      ? 'expected either `api_key` or `api_key_file`, got both'
      : 'is missing; set `api_key`, or `api_key_file` to the file that contains the key';
    context.addIssue(problemOf(message, 'key', [isInline ? 'api_key_file' : 'api_key']));
  }
  if (panel.url !== undefined && isClearText(panel.url) && panel.allow_insecure !== true) {
    const message =
      'expected https, because http sends the API key in clear text (`allow_insecure: true` permits it)';
    context.addIssue(problemOf(message, 'value', ['url']));
  }
  if (panel.discover !== undefined) return;
  if (panel.servers?.length === 0) {
    const message = 'expected at least one server, or discover: true to take them from the panel';
    context.addIssue(problemOf(message, 'value', ['servers']));
  }
  // Without the server list, only the file can specify where a game is queried.
  const queried = panel.limits_from_listing === false ? itemsIn(panel.servers) : [];
  for (const [index, { query }] of queried.entries()) {
    if (query === undefined || /:\d+$/.test(query.address ?? '')) continue;
    const message =
      'expected the address to query, with its port, because the server list is not read (`limits_from_listing: false`)';
    context.addIssue(problemOf(message, 'value', ['servers', index, 'query', 'address']));
  }
}

/** Reports panels with the same name, and servers that a panel lists twice. */
export function checkPanels(config: { readonly panels?: readonly Panel[] }, context: Context): void {
  const panels = itemsIn(config.panels);
  for (const [index, before] of repeatedIn(panels.map(({ name }) => name))) {
    const message = sameName(['panels', before, 'name']);
    context.addIssue(problemOf(message, 'value', ['panels', index, 'name']));
  }
  for (const [index, { servers }] of panels.entries())
    checkServers(itemsIn(servers), ['panels', index, 'servers'], context);
}

function checkServers(servers: Servers, path: KeyPath, context: Context): void {
  const identities = servers.map(({ id }) => id && identityOf({ id }));
  const repeated = repeatedIn(identities);
  for (const [index, before] of repeated) {
    const place = z.core.toDotPath([...path, before, 'id']);
    const [id = '', other = ''] = [servers[index]?.id, servers[before]?.id];
    const message = isSameServer({ id }, { id: other })
      ? `expected each server once (already listed at ${place})`
      : `expected an id whose first 8 characters are unique in the panel (${place} has the same)`;
    context.addIssue(problemOf(message, 'value', [...path, index, 'id']));
  }
  // The identity is also the default of a server's name.
  const names = servers.map(({ name }, index) => name ?? identities[index]);
  const namedAt = (index: number) => [...path, index, names[index] === identities[index] ? 'id' : 'name'];
  for (const [index, before] of repeatedIn(names)) {
    const setting = namedAt(index);
    // A server that is listed twice also has its default name twice: that is one mistake, not two.
    if (setting.at(-1) === 'name' || !repeated.has(index))
      context.addIssue(problemOf(sameName(namedAt(before)), 'value', setting));
  }
}

function sameName(before: KeyPath): string {
  return `expected a unique name (already used by ${z.core.toDotPath(before)})`;
}

/** What is in a list; nothing, if the setting is something else. */
function itemsIn<Item extends object>(list: readonly Item[] | undefined): readonly Partial<Item>[] {
  return Array.isArray(list) ? list.map((item: Item | null) => item ?? {}) : [];
}

/** The positions of keys that occurred before, and where each occurred first. */
function repeatedIn(keys: readonly (string | undefined)[]): ReadonlyMap<number, number> {
  const first = new Map<string, number>();
  const repeated = new Map<number, number>();
  for (const [index, key] of keys.entries()) {
    const before = key === undefined ? undefined : first.get(key);
    if (before !== undefined) repeated.set(index, before);
    else if (key !== undefined) first.set(key, index);
  }
  return repeated;
}
