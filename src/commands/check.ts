import { Command } from 'commander';
import { formatIssues } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import { describeConfig } from './describe-config.ts';

/** `check`: says what a configuration was understood to mean, or everything that is wrong with it. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration and print what it was understood to mean, without secrets')
    .argument('[config]', 'the configuration file (default: that of --config)')
    .option('--config <file>', 'the configuration file', 'config.yaml')
    .action(async (file: string | undefined, options: { config: string }, command: Command) => {
      const output = command.configureOutput();
      const path = file ?? options.config;
      const result = await loadConfig(path, process.env);
      if (result.ok) output.writeOut?.(`${path} is valid\n\n${describeConfig(result.config)}\n`);
      else output.writeErr?.(`${formatIssues(result.issues)}\n`);
      process.exitCode = result.ok ? 0 : 1;
    });
}
