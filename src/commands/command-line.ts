import { InvalidArgumentError, Option } from 'commander';
import type { Config } from '../config/config.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../config/values.ts';

/** A failure that its message explains fully: it is shown as it is, without a stack, and the exit code is 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}

/** Returns a parser for a flag's whole number between `least` and `most`; commander reports its error as a usage error. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`Expected an integer ${range}.`);
  };
}

/** The flags of every command that logs; without a flag, the configuration decides. */
export interface LogFlags {
  readonly 'log.level'?: Config['log']['level'];
  readonly 'log.format'?: Config['log']['format'];
}

export function logLevelOption(otherwise = 'from the configuration, or else info'): Option {
  return new Option('--log.level <level>', `minimum level of log lines (default: ${otherwise})`).choices(
    LOG_LEVELS,
  );
}

export function logFormatOption(
  otherwise = 'from the configuration, or else pretty in a terminal, json otherwise',
): Option {
  return new Option('--log.format <format>', `format of log lines (default: ${otherwise})`).choices(
    LOG_FORMATS,
  );
}
