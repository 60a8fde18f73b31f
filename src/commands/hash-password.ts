// The command `hash-password`: prints the bcrypt hash of a password for the web configuration.
import { hash } from 'bcryptjs';
import { Command } from 'commander';
import { stringify } from 'yaml';
import type { FileKind } from '../yaml/text-file.ts';
import { readText } from '../yaml/text-file.ts';
import type { Asker } from './asker.ts';
import { CommandFailure } from './command-failure.ts';
import { invocation } from './command-line.ts';
import { terminalAsker } from './terminal-asker.ts';

/** The cost factor of bcrypt, with which a check takes 0.1 s. */
const COST = 10;

/** bcrypt ignores all bytes after the first 72. */
const MAX_BYTES = 72;

const DEFAULT_USER = 'prometheus';

const PASSWORD: FileKind = { maxKibibytes: 1, content: 'a password' };

/** `hash-password`: prints the lines of the web configuration that admit a user. */
export function hashPasswordCommand(): Command {
  return new Command('hash-password')
    .description('print a user and the hash of a password for --web.config.file')
    .argument('[user]', 'name of the user', DEFAULT_USER)
    .addHelpText(
      'after',
      `
In a terminal, the command asks for the password and does not echo it. Otherwise,
it reads the password from standard input. The output is a complete web
configuration. If you have one, add the line of the user to its basic_auth_users.

Examples:
  $ gameserver-exporter hash-password > web.yml
  $ gameserver-exporter hash-password alice
  $ pass show exporter | gameserver-exporter hash-password

Exit codes: 0 printed · 1 error · 2 invalid usage`,
    )
    .action(async (user: string, _flags: object, command: Command) => {
      const problem = userProblem(user);
      if (problem !== undefined) command.error(`error: ${problem}`);
      const { stdin, stderr } = process;
      const canAsk = stdin.isTTY && stderr.isTTY;
      const password = canAsk
        ? await askedPassword(await terminalAsker(new AbortController().signal), user)
        : await pipedPassword(stdin);
      console.log(usersText(user, await hash(password, COST)));
    });
}

/** The section of the web configuration with one user. */
export function usersText(user: string, hashed: string): string {
  return stringify({ basic_auth_users: { [user]: hashed } }, { lineWidth: 0 }).trimEnd();
}

/** What is wrong with the name of a user; undefined if nothing is. */
export function userProblem(user: string): string | undefined {
  if (user === '') return 'expected the name of a user, but it is empty';
  if (user.includes(':'))
    return 'expected a name without a colon, because clients send a colon between user and password';
  if (hasControlCharacter(user)) return 'expected a name without control characters';
  // The web configuration may not contain the key `__proto__`.
  return user === '__proto__'
    ? 'expected another name: no configuration may have the key __proto__'
    : undefined;
}

/** What is wrong with a password, without quoting it; undefined if nothing is. */
export function passwordProblem(password: string): string | undefined {
  if (password === '') return 'expected a password, but it is empty';
  if (/[\n\r]/.test(password)) return 'expected a password of one line, but there are several';
  if (hasControlCharacter(password)) return 'expected a password without control characters';
  const bytes = Buffer.byteLength(password);
  return bytes > MAX_BYTES
    ? `expected a password of at most ${MAX_BYTES} bytes, because bcrypt ignores the rest, but this one has ${bytes}`
    : undefined;
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** The password that a person types twice; throws a CommandFailure if the person cancels. */
export async function askedPassword(asker: Pick<Asker, 'hidden'>, user: string): Promise<string> {
  const password = await asker.hidden({
    text: `Password of ${user}, not echoed`,
    example: '',
    validate: passwordProblem,
  });
  await asker.hidden({
    text: 'The same password again',
    example: '',
    validate: (again) => (again === password ? undefined : 'expected the same password as before'),
  });
  return password;
}

/**
 * The password on standard input, without the trailing line break. Throws a CommandFailure if it is
 * missing or can't be read.
 */
export async function pipedPassword(input: NodeJS.ReadableStream): Promise<string> {
  const read = await readText(input, PASSWORD);
  if (!read.ok) throw new CommandFailure(`standard input ${read.problem}`);
  const password = read.content.replace(/\r?\n$/, '');
  const problem = passwordProblem(password);
  if (problem === undefined) return password;
  const advice =
    password === '' ? `: pipe one to ${invocation()} hash-password, or run it in a terminal to be asked` : '';
  throw new CommandFailure(`standard input: ${problem}${advice}`);
}
