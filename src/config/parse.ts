import { isTreeMap, type SettingProblem, type Tree, type YamlDocument } from '../yaml/document.ts';
import { knownKeys } from '../yaml/issues.ts';
import {
  loadSettings,
  openSettings,
  type SettingsFormat,
  START,
  secretFiles,
} from '../yaml/settings-file.ts';
import { API_KEY_FILE, TLS_FILE } from '../yaml/text-file.ts';
import type { Environment } from '../yaml/variables.ts';
import { configSchema, type Settings } from './schema.ts';

const FORMAT: SettingsFormat<Settings> = {
  schema: configSchema,
  files: fileSettings,
  misfit,
};

const FILE_SETTINGS = [
  ['api_key_file'],
  ['nodes', 'api_key_file'],
  ['tls_config', 'ca_file'],
  ['tls_config', 'cert_file'],
  ['tls_config', 'key_file'],
];

function fileSettings(tree: Tree) {
  const panels = isTreeMap(tree) && Array.isArray(tree['panels']) ? tree['panels'] : [];
  return panels.flatMap((_, index) =>
    FILE_SETTINGS.map((setting) => ({
      path: ['panels', index, ...setting],
      kind: setting.includes('api_key_file') ? API_KEY_FILE : TLS_FILE,
    })),
  );
}

/** The keys that a configuration of pterodactyl_exporter or pelican-exporter always has. */
const THEIR_KEYS = ['host', 'api_key'];

function misfit(tree: Tree): SettingProblem | undefined {
  const is = (message: string): SettingProblem => ({ path: [], message, at: START });
  if (tree === null)
    return is('the file is empty; create it with init, or copy config.example.yaml and fill in your panel');
  const [settings] = Array.isArray(tree) ? tree : [tree];
  if (!isTreeMap(settings) || 'panels' in settings) return undefined;
  if (THEIR_KEYS.every((key) => key in settings))
    return is(
      'this is a configuration of pterodactyl_exporter or pelican-exporter; docs/migration.md describes how to convert it',
    );
  const isOfPanel = knownKeys(configSchema, ['panels', 0]).some((key) => key in settings);
  return isOfPanel ? is('put these settings below `panels:`, as an entry that begins with `- `') : undefined;
}

/** Reads a configuration's text, without the files that it refers to; `file` is its name in the issues. */
export function parseConfig(text: string, file: string, env: Environment) {
  const { document, check } = openSettings(text, file, env, FORMAT);
  const { settings, issues } = check();
  return { settings: settings && withKeySources(settings, document), issues };
}

/** Tells keys in variables from those in the file itself. */
function withKeySources(settings: Settings, document: YamlDocument): Settings {
  for (const [index, panel] of settings.panels.entries())
    if (document.templateOf(['panels', index, 'api_key']) !== undefined) panel.apiKeySource = 'variable';
  return settings;
}

/**
 * Reads the configuration and the files that it refers to, as plain data. `skipKeyFiles` skips the files with API keys, for a user
 * who has a separate key and may not read them: those keys are then empty.
 */
export async function readConfig(file: string, env: Environment, skipKeyFiles = false) {
  const advice = 'create it with init, copy config.example.yaml there, or name another file with --config';
  const read = await loadSettings(file, env, FORMAT, {
    advice,
    isSkipped: ({ kind }) => skipKeyFiles && kind === API_KEY_FILE,
  });
  if (read.settings === undefined) return { settings: undefined, issues: read.issues, secretFiles: [] };
  const settings = withKeySources(read.settings, read.document);
  const inline = settings.panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const own = { file, shown: file, place: `${file}: panels[${inline}].api_key` };
  const keys = read.references.filter(({ path }) => path.endsWith('key_file'));
  return { settings, issues: [], secretFiles: [...(inline === -1 ? [] : [own]), ...secretFiles(file, keys)] };
}
