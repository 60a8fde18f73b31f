import type { YamlDocument } from '../yaml/document.ts';
import { loadSettings, parseSettings, type SecretFile, secretFiles } from '../yaml/settings-file.ts';
import { API_KEY_FILE } from '../yaml/text-file.ts';
import type { Environment } from '../yaml/variables.ts';
import { configSchema, type Settings } from './schema.ts';

const FORMAT = { schema: configSchema };

/** Reads a configuration's text, without the files that it refers to; `file` is its name in the issues. */
export async function parseConfig(text: string, file: string, env: Environment) {
  const { document, settings, issues } = await parseSettings(text, file, env, FORMAT);
  return { settings: settings && withKeySources(settings, document), issues };
}

/** Tells keys in variables from those in the file itself. */
function withKeySources(settings: Settings, { templates }: YamlDocument): Settings {
  for (const [index, panel] of settings.panels.entries())
    if (templates.has(`panels[${index}].api_key`)) panel.apiKeySource = 'variable';
  return settings;
}

/**
 * Reads the configuration and the files that it refers to, as plain data. `skipKeyFiles` skips the files with API keys, for a user
 * who has a separate key and may not read them: those keys are then empty.
 */
export async function readConfig(file: string, env: Environment, skipKeyFiles = false) {
  const read = await loadSettings(file, env, FORMAT, {
    advice: 'create it with init, copy config.example.yaml there, or name another file with --config',
    skipped: skipKeyFiles ? API_KEY_FILE : undefined,
  });
  if (read.settings === undefined) return { settings: undefined, issues: read.issues, secretFiles: [] };
  const settings = withKeySources(read.settings, read.document);
  return { settings, issues: [], secretFiles: filesWithKeys(file, settings, read.document) };
}

/** The configuration itself, if it contains an API key, and the files with keys that it names. */
function filesWithKeys(file: string, { panels }: Settings, document: YamlDocument): readonly SecretFile[] {
  const inline = panels.findIndex(({ apiKeySource }) => apiKeySource === 'inline');
  const own = { file, shown: file, place: `${file}: panels[${inline}].api_key` };
  const paths = panels.flatMap((_, index) =>
    [['api_key_file'], ['nodes', 'api_key_file'], ['tls_config', 'key_file']].map((path) => [
      'panels',
      index,
      ...path,
    ]),
  );
  return [...(inline === -1 ? [] : [own]), ...secretFiles(file, document, paths)];
}
