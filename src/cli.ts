#!/usr/bin/env node
import { handleEarlySignals } from './commands/signals.ts';

const words = process.argv.slice(2);

// Runs before the rest of the program is loaded, because loading takes longer than an impatient service manager waits.
handleEarlySignals(words);

const { main } = await import('./commands/program.ts');

process.exitCode = await main(process.argv);
