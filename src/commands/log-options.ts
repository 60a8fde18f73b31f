import { Option } from 'commander';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../config/config.ts';

/** The flags of every command that logs; where one is absent the configuration decides. */
export interface LogFlags {
  readonly 'log.level'?: LogLevel;
  readonly 'log.format'?: LogFormat;
}

export function logLevelOption(): Option {
  return new Option('--log.level <level>', 'what to log (default: the configuration’s, else info)').choices(
    LOG_LEVELS,
  );
}

export function logFormatOption(): Option {
  return new Option(
    '--log.format <format>',
    'how to log (default: the configuration’s, else pretty in a terminal and json elsewhere)',
  ).choices(LOG_FORMATS);
}
