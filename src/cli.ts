#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { checkCommand } from './commands/check.ts';
import { consoleCommand } from './commands/console.ts';
import { demoCommand } from './commands/demo.ts';
import { doctorCommand } from './commands/doctor.ts';
import { CommandFailure } from './commands/failure.ts';
import { serveCommand } from './commands/serve.ts';
import { simulateCommand } from './commands/simulate.ts';
import { ListenAddressError, ListenError } from './http/listen-address.ts';
import { ProxyError } from './panel/proxy.ts';
import { VERSION_TEXT } from './version.ts';

const USAGE = 2;
const TROUBLE = 1;

/** Errors whose message says all. */
const TROUBLES = [CommandFailure, ListenError, ProxyError];

function program(): Command {
  const root = new Command('gameserver-exporter')
    .description(
      'Prometheus exporter for game servers on Pterodactyl, Pelican and panels that speak the same client API',
    )
    .version(VERSION_TEXT, '--version', 'print the version, its commit, and what it runs on')
    .addCommand(serveCommand(), { isDefault: true })
    .addCommand(checkCommand())
    .addCommand(doctorCommand())
    .addCommand(consoleCommand())
    .addCommand(demoCommand())
    .addCommand(simulateCommand())
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter demo                            see it at work, without a panel
  $ gameserver-exporter check --config config.yaml      is the configuration in order?
  $ gameserver-exporter doctor --config config.yaml     do panels and servers answer?
  $ gameserver-exporter serve --config config.yaml      serve their metrics

Exit codes: 0 done, or stopped by a signal · 1 trouble that the message names · 2 wrong usage
Each command's own --help has more.`,
    );
  for (const command of [root, ...root.commands]) {
    command.exitOverride().showHelpAfterError('(--help shows what there is)');
  }
  return root;
}

/** Runs one command and gives the process's exit code. */
async function main(argv: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(argv);
    return typeof process.exitCode === 'number' ? process.exitCode : 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    if (error instanceof ListenAddressError) return complain(error, USAGE);
    if (TROUBLES.some((kind) => error instanceof kind)) return complain(error as Error, TROUBLE);
    console.error(error);
    return TROUBLE;
  }
}

// A configuration may have several faults, a line each.
function complain(error: Error, exitCode: number): number {
  console.error(error.message.replaceAll(/^/gm, 'error: '));
  return exitCode;
}

process.exitCode = await main(process.argv);
