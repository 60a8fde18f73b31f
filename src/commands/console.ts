// The command `console`: its flags and its exit.

import { Command, InvalidArgumentError, Option } from 'commander';
import { systemNames } from '../addresses/name-lookups.ts';
import { socketAccess, spokenDialect } from '../app/panel-access.ts';
import { type ConsolePlan, ConsoleRun } from '../console/console-run.ts';
import { Screen } from '../console/screen.ts';
import { wantsColors } from '../doctor/paint.ts';
import { SystemClock } from '../domain/clock.ts';
import { POWER_ACTIONS } from '../panel/socket-codec.ts';
import { parseDuration } from '../text/duration.ts';
import { printable } from '../text/printable.ts';
import { panelApi } from './api-client.ts';
import { CommandFailure } from './command-failure.ts';
import { confirmed } from './confirmation.ts';
import { KEY_VARIABLE } from './console-key.ts';
import { findServer, type ServerFlags } from './console-server.ts';

interface ConsoleFlags extends ServerFlags, Omit<ConsolePlan, 'interactive'> {
  readonly yes?: boolean;
}

/** `console`: one server's live console, using the user's own key. */
export function consoleCommand(): Command {
  return new Command('console')
    .description("show a server's live console, send commands, and start or stop the server")
    .argument('<server>', "the server's name, or its short or full id")
    .option('--config <file>', 'configuration file', 'config.yaml')
    .option('--panel <name>', 'search only this panel')
    .option(
      '--api-key-file <file>',
      `file with your own API key (default: ${KEY_VARIABLE}, or else the key in the configuration)`,
    )
    .option('--logs', 'show recent lines first')
    .option('--send <command>', "send this command, and don't read input; repeatable", collect)
    .addOption(
      new Option(
        '--power <action>',
        "start, stop, restart or kill the server, wait until it is done, and don't read input; asks for confirmation",
      ).choices(POWER_ACTIONS),
    )
    .option('--yes', "don't ask for confirmation of --power")
    .option('--for <duration>', 'exit after this time, such as 5s or 10m', duration)
    .addHelpText(
      'after',
      `
In a terminal, type commands; Ctrl-C or Ctrl-D exits. With piped input, each
line is a command. With piped output, only the server's lines go to standard
output, without colors. At the end of the input, the program exits once the
server is silent. Use your own API key: the exporter's key should belong to a
read-only account.

Examples:
  $ gameserver-exporter console survival --logs
  $ gameserver-exporter console survival --api-key-file ~/.config/panel-key
  $ gameserver-exporter console survival --send "say restart in a minute" --send save-all
  $ gameserver-exporter console survival --power restart --yes
  $ gameserver-exporter console survival --for 1m </dev/null | grep -i error

Exit codes: 0 success, or stopped by a signal · 1 error · 2 invalid usage`,
    )
    .action(async (server: string, flags: ConsoleFlags, command: Command) => {
      const { power, yes = false } = flags;
      const canAsk = process.stdin.isTTY && process.stderr.isTTY;
      if (power !== undefined && !yes && !canAsk)
        command.error(`error: --power ${power} asks for confirmation, but there is no terminal: add --yes`);
      const { code, error } = await runConsole(server, flags);
      if (error !== undefined) throw new CommandFailure(error);
      process.exitCode = code;
    });
}

function collect(command: string, earlier: readonly string[] = []): readonly string[] {
  if (command.trim() === '') throw new InvalidArgumentError('Expected a command, but it is empty.');
  return [...earlier, command];
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError('Expected a duration such as 5s or 10m.');
}

async function runConsole(server: string, flags: ConsoleFlags) {
  const clock = new SystemClock();
  const { panel, target, ownKeySource } = await findServer(server, flags, clock);
  const keySource = ownKeySource ?? `the configuration (${panel.apiKeySource})`;
  const { power, yes = false, send = [] } = flags;
  const { stdin, stdout, stderr } = process;
  const isAsked = power !== undefined && !yes;
  if (isAsked && !(await confirmed(`${power} ${target.name} on panel ${panel.name}?`, stdin, stderr)))
    return { code: 1, error: `${power} was not confirmed: nothing was done` };
  const readsInput = power === undefined && send.length === 0;
  const interactive = readsInput && stdin.isTTY && stdout.isTTY;
  const screen = new Screen({
    stdin: readsInput ? stdin : undefined,
    stdout,
    stderr,
    color: wantsColors(stdout, process.env),
    prompt: interactive ? `${printable(target.name)}> ` : undefined,
    onInterrupt: () => run.end(),
  });
  const dialect = spokenDialect(panel);
  const api = panelApi(panel, clock, dialect);
  const run = new ConsoleRun(
    { ...flags, interactive },
    {
      sockets: socketAccess(panel, clock, systemNames().forPanel(), dialect),
      settings: panel,
      target,
      keySource,
      screen,
      clock,
      random: Math.random,
      api,
    },
  );
  const advice = `prefer your own, with --api-key-file or ${KEY_VARIABLE}`;
  if (ownKeySource === undefined) screen.note(`using the exporter's API key from ${keySource}: ${advice}`);
  // Only once, so that a second signal ends the process as usual.
  process.once('SIGINT', () => run.end()).once('SIGTERM', () => run.end());
  stdout.on('error', () => run.end());
  const outcome = await run.run();
  await api.close();
  return outcome;
}
