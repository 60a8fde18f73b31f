// What the commands share: failures with a clear message, numeric flags and shell quoting.

import { basename, relative } from 'node:path';
import { InvalidArgumentError } from 'commander';

/**
 * A failure that its message explains fully: it is shown as it is, without a stack, and the exit
 * code is 1.
 */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/**
 * Returns a parser for a flag's whole number between `least` and `most`; commander reports its
 * error as a usage error.
 */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected an integer ${range}.`);
  };
}

/** The command that started this program, as typed by the user. */
export function invocation(): string {
  if (process.env['npm_lifecycle_event'] === 'start') return 'npm start --';
  const [, script = ''] = process.argv;
  const near = relative('', script);
  const path = near.length < script.length ? near : script;
  return basename(script) === 'cli.js' ? `node ${shellWord(path)}` : 'gameserver-exporter';
}

/** The text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
