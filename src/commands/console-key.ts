import { apiKeyOfFile, apiKeyProblem } from '../config/api-key.ts';
import { readTextFile } from '../config/text-file.ts';
import { Secret } from '../domain/secret.ts';
import { CommandFailure } from './failure.ts';

/** The variable that a user's own key is taken from. */
export const KEY_VARIABLE = 'GAMESERVER_CONSOLE_API_KEY';

/** A key of the user's own. */
export interface OwnKey {
  readonly key: Secret;
  /** Where it came from, in words. */
  readonly source: string;
}

/** The key in the file, else the one in the variable, else none; throws a CommandFailure for one that can't be used. */
export async function ownKey(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<OwnKey | undefined> {
  if (file !== undefined) {
    const read = await readTextFile(file);
    const shown = JSON.stringify(file);
    if (!read.ok) throw new CommandFailure(`--api-key-file ${shown} can't be read: ${read.problem}`);
    return checked(apiKeyOfFile(read.content), `the file ${shown}`);
  }
  const value = env[KEY_VARIABLE];
  return value === undefined || value === '' ? undefined : checked(value, KEY_VARIABLE);
}

function checked(key: string, source: string): OwnKey {
  const problem = apiKeyProblem(key);
  if (problem !== undefined) throw new CommandFailure(`${source}: ${problem}`);
  return { key: new Secret(key), source };
}
