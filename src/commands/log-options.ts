import { Option } from 'commander';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../config/config.ts';

/** The flags of every command that logs; where one is absent the configuration decides. */
export interface LogFlags {
  readonly 'log.level'?: LogLevel;
  readonly 'log.format'?: LogFormat;
}

export function logLevelOption(otherwise = "the configuration's, else info"): Option {
  return new Option('--log.level <level>', `what to log (default: ${otherwise})`).choices(LOG_LEVELS);
}

export function logFormatOption(
  otherwise = "the configuration's, else pretty in a terminal and json elsewhere",
): Option {
  return new Option('--log.format <format>', `how to log (default: ${otherwise})`).choices(LOG_FORMATS);
}
