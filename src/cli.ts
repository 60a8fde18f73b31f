#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { checkCommand } from './commands/check.ts';
import { demoCommand } from './commands/demo.ts';
import { CommandFailure } from './commands/failure.ts';
import { serveCommand } from './commands/serve.ts';
import { simulateCommand } from './commands/simulate.ts';
import { ListenAddressError, ListenError } from './http/listen-address.ts';
import { VERSION } from './version.ts';

const USAGE = 2;
const TROUBLE = 1;

function program(): Command {
  const root = new Command('gameserver-exporter')
    .description(
      'Prometheus exporter for game servers on Pterodactyl, Pelican and panels that speak the same client API',
    )
    .version(VERSION, '--version', 'print the version')
    .addCommand(serveCommand(), { isDefault: true })
    .addCommand(checkCommand())
    .addCommand(demoCommand())
    .addCommand(simulateCommand());
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
    if (error instanceof CommandFailure || error instanceof ListenError) return complain(error, TROUBLE);
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
