// The program: runs the command that its arguments name.

import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { VERSION_TEXT } from '../build-info.ts';
import { CodedError } from '../diagnosis/transport-errors.ts';
import { ListenAddressError, ListenError } from '../http/listen-address.ts';
import { panelsWith } from '../panel/dialects/facts.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { CommandFailure } from './command-failure.ts';

const USAGE = 2;
const FAILURE = 1;

/** Errors whose message is sufficient, without a stack. */
const EXPECTED_ERRORS = [CommandFailure, ListenError, CodedError];

/**
 * In the order of the help. Each command loads its own modules: loading all of them takes longer
 * than running most commands.
 */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./serve.ts')).serveCommand()],
  ['init', async () => (await import('./init.ts')).initCommand()],
  ['check', async () => (await import('./check.ts')).checkCommand()],
  ['doctor', async () => (await import('./doctor.ts')).doctorCommand()],
  ['hash-password', async () => (await import('./hash-password.ts')).hashPasswordCommand()],
  ['console', async () => (await import('./console.ts')).consoleCommand()],
  ['demo', async () => (await import('./demo.ts')).demoCommand()],
  ['simulate', async () => (await import('./simulate.ts')).simulateCommand()],
]);

/** The command to run if the first word isn't a command. */
const DEFAULT_COMMAND = 'serve';

/** Options of the program itself, which apply without a command. */
const OWN_OPTIONS = new Set(['-h', '--help', '--version']);

/**
 * The commands to load for these arguments: one, or all for the help. Without a command, the
 * default one runs.
 */
function commandsFor([word = '']: readonly string[]): readonly string[] {
  if (COMMANDS.has(word)) return [word];
  const isDefault = word === '' || (word.startsWith('-') && !OWN_OPTIONS.has(word));
  return isDefault ? [DEFAULT_COMMAND] : [...COMMANDS.keys()];
}

async function program(args: readonly string[]): Promise<Command> {
  const root = new Command('gameserver-exporter')
    .description(`Prometheus exporter for game servers on ${panelsWith(() => true)} panels`)
    .version(VERSION_TEXT, '--version', 'print the version, the commit and the Node.js version')
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter demo                            try it without a panel
  $ gameserver-exporter init                            write a configuration for your panel
  $ gameserver-exporter check --config config.yaml      validate the configuration
  $ gameserver-exporter doctor --config config.yaml     test the panels and servers
  $ gameserver-exporter serve --config config.yaml      serve the metrics

Exit codes: 0 success, or stopped by a signal · 1 error · 2 invalid usage
Run a command with --help for its flags.`,
    );
  const names = commandsFor(args);
  for (const name of names) {
    const command = await COMMANDS.get(name)?.();
    // A default command among others would take every unknown command as its argument.
    if (command !== undefined) root.addCommand(command, { isDefault: names.length === 1 });
  }
  for (const command of [root, ...root.commands]) {
    command
      .exitOverride()
      .showHelpAfterError('(run with --help for usage)')
      .configureOutput({ writeErr: (text) => process.stderr.write(KNOWN_SECRETS.redact(text)) });
  }
  return root;
}

/** Runs one command and returns the process's exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  endWithReader();
  try {
    const root = await program(argv.slice(2));
    await root.parseAsync(argv);
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (error instanceof ListenAddressError) return complain(error, USAGE);
    if (EXPECTED_ERRORS.some((kind) => error instanceof kind)) return complain(error as Error, FAILURE);
    console.error(KNOWN_SECRETS.redact(inspect(error)));
    return FAILURE;
  }
}

// An invalid configuration may have several problems, one per line.
function complain(error: Error, exitCode: number): number {
  console.error(KNOWN_SECRETS.redact(error.message).replaceAll(/^/gm, 'error: '));
  return exitCode;
}

/** Exits without an error if the reader of the output, such as `head`, has closed it. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}
