// Parses a configuration file with the schema and with rules across settings.

import { z } from 'zod';
import { canonicalId, isSameServer, shortId } from '../domain/server-ids.ts';
import { checkSettings } from '../yaml/check-settings.ts';
import type { ReadFile } from '../yaml/named-files.ts';
import { isTreeMap, type KeyPath, type SettingProblem, type Tree, valueAt } from '../yaml/tree.ts';
import type { Environment } from '../yaml/variables.ts';
import { configSchema } from './config-schema.ts';
import { isClearText } from './panel-url.ts';
import { readAddress } from './server-schema.ts';

/**
 * Parses a configuration's text; `file` is its name in the issues, and `read` reads the files that
 * it names.
 */
export async function parseConfig(text: string, file: string, env: Environment, read?: ReadFile) {
  const parsed = await checkSettings(text, env, { file, schema: configSchema, read, rules: configRules });
  const { document, settings: config, issues } = parsed;
  for (const [index, panel] of config?.panels.entries() ?? []) {
    const written = (key: string) => valueAt(document.tree, ['panels', index, key]);
    const [key, keyFile] = [written('api_key'), written('api_key_file')];
    if (typeof keyFile === 'string') panel.apiKeySource = `file ${keyFile}`;
    else if (typeof key === 'string' && document.unexpanded(key) === key) panel.apiKeySource = 'inline';
  }
  return { document, config, issues };
}

const BOTH_KEYS = 'expected either `api_key` or `api_key_file`, got both';
const NO_KEY = 'is missing; set `api_key`, or `api_key_file` to the file that contains the key';
const CLEAR_TEXT =
  'expected https, because http sends the API key in clear text (`allow_insecure: true` permits it)';

const NO_SERVER = 'expected at least one server, or discover: true to take them from the panel';
const NO_PORT =
  'expected the address to query, with its port, because the server list is not read (`limits_from_listing: false`)';

/** Problems between settings. */
function configRules(tree: Tree): readonly SettingProblem[] {
  const problems: SettingProblem[] = [];
  const add = (path: KeyPath, message: string, at: 'key' | 'value' = 'value') =>
    problems.push({ path, message, at });
  /** Adds a problem if the text occurred before. */
  const unique = (
    places: Map<Tree, KeyPath>,
    text: Tree,
    path: KeyPath,
    describe: (place: string, before: Tree) => string = (place) =>
      `expected a unique name (already used by ${place})`,
  ) => {
    const before = places.get(text);
    if (before !== undefined) add(path, describe(z.core.toDotPath(before), valueAt(tree, before)));
    else if (typeof text === 'string') places.set(text, path);
  };
  const panelNames = new Map<Tree, KeyPath>();
  for (const [panelIndex, panel] of mapsIn(tree, 'panels').entries()) {
    const at = (...path: KeyPath) => ['panels', panelIndex, ...path];
    const { name: panelName, url, allow_insecure: insecure, discover = 'false', servers = [] } = panel;
    unique(panelNames, panelName, at('name'));
    const isInline = 'api_key' in panel;
    if (isInline === 'api_key_file' in panel)
      add(at(isInline ? 'api_key_file' : 'api_key'), isInline ? BOTH_KEYS : NO_KEY, 'key');
    if (typeof url === 'string' && isClearText(url) && insecure !== 'true') add(at('url'), CLEAR_TEXT);
    const tls = isTreeMap(panel['tls_config']) ? panel['tls_config'] : {};
    const [given, other] = 'cert_file' in tls ? ['cert_file', 'key_file'] : ['key_file', 'cert_file'];
    if (given in tls !== other in tls)
      add(at('tls_config', given), `expected ${other} as well: a client certificate needs both`, 'key');
    if (discover === 'false' && Array.isArray(servers) && servers.length === 0) add(at('servers'), NO_SERVER);
    // Without the server list, only the configuration can say where a game is queried.
    const isUnlisted = discover === 'false' && panel['limits_from_listing'] === 'false';
    const [ids, names] = [new Map<Tree, KeyPath>(), new Map<Tree, KeyPath>()];
    for (const [index, { id, name, query }] of mapsIn(panel, 'servers').entries()) {
      const sameId = (other: Tree) => ({ id: canonicalId(String(other)) });
      const identity = typeof id === 'string' ? shortId(sameId(id)) : undefined;
      unique(ids, identity, at('servers', index, 'id'), (place, before) =>
        isSameServer(sameId(id), sameId(before))
          ? `expected each server once (already listed at ${place})`
          : `expected an id whose first 8 characters are unique in the panel (${place} has the same)`,
      );
      // The identity is the default name of a server.
      const isDefault = name === undefined || name === identity;
      unique(names, isDefault ? identity : name, at('servers', index, isDefault ? 'id' : 'name'));
      if (!isUnlisted || !isTreeMap(query)) continue;
      const { address } = query;
      if (typeof address !== 'string' || !/:\d+$/.test(readAddress(address) ?? ''))
        add(at('servers', index, 'query', 'address'), NO_PORT);
    }
  }
  return problems;
}

/** The maps in a list of a map, with an empty map for any other item; empty if there is no list. */
function mapsIn(map: Tree, key: string): readonly Readonly<Record<string, Tree>>[] {
  const list = valueAt(map, [key]);
  return Array.isArray(list) ? list.map((item: Tree) => (isTreeMap(item) ? item : {})) : [];
}
