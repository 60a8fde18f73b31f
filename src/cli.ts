#!/usr/bin/env node
// The entry point: checks the version of Node.js, then runs the command that the arguments name.

import { handleEarlySignals } from './commands/signals.ts';

const NEEDED = '20.19';
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

// Older versions fail while they load the program, with errors that don't mention the version.
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `error: gameserver-exporter needs Node.js ${NEEDED} or newer, this is ${process.versions.node}`,
  );
  process.exit(1);
}

const args = process.argv.slice(2);

// Runs before the rest of the program is loaded, because loading takes longer than an impatient
// service manager waits.
handleEarlySignals(args);

const { main } = await import('./commands/program.ts');

process.exitCode = await main(process.argv);
