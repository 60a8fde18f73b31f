// The user's own API key for `console`.

import { apiKeyIn, apiKeyProblem } from '../text/api-keys.ts';
import { Secret } from '../text/redaction.ts';
import { API_KEY_FILE, readTextFile } from '../yaml/text-file.ts';
import { CommandFailure } from './command-failure.ts';

/** The environment variable with the user's own key. */
export const KEY_VARIABLE = 'GAMESERVER_CONSOLE_API_KEY';

/**
 * The user's own key and its source: the file, or else the environment variable. Throws a
 * CommandFailure if the key is invalid.
 */
export async function ownKey(file: string | undefined) {
  let key = process.env[KEY_VARIABLE] ?? '';
  let source = KEY_VARIABLE;
  if (file !== undefined) {
    const read = await readTextFile(file, API_KEY_FILE);
    source = `the file ${JSON.stringify(file)}`;
    if (!read.ok) throw new CommandFailure(`--api-key-file ${JSON.stringify(file)} ${read.problem}`);
    key = read.content;
  } else if (key === '') return undefined;
  key = apiKeyIn(key);
  const problem = apiKeyProblem(key);
  if (problem !== undefined) throw new CommandFailure(`${source}: ${problem}`);
  return { key: new Secret(key), source };
}
