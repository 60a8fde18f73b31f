import { Command } from 'commander';
import { formatIssues } from '../config/issue.ts';
import { loadConfig } from '../config/load.ts';
import { loadWebConfig } from '../web-config/load.ts';
import { describeConfig } from './describe-config.ts';
import { webConfigOption } from './web-flags.ts';

interface CheckFlags {
  readonly config: string;
  readonly 'web.config.file'?: string;
}

/** `check`: says what a configuration was understood to mean, or everything that is wrong with it. */
export function checkCommand(): Command {
  return new Command('check')
    .description('check a configuration and print what it was understood to mean, without secrets')
    .argument('[config]', 'the configuration file (default: that of --config)')
    .option('--config <file>', 'the configuration file', 'config.yaml')
    .addOption(webConfigOption())
    .addHelpText(
      'after',
      `
Examples:
  $ gameserver-exporter check config.yaml
  $ gameserver-exporter check config.yaml --web.config.file web.yml

Exit codes: 0 all is valid · 1 something is not: each problem with its file, line and column · 2 wrong usage`,
    )
    .action(async (file: string | undefined, options: CheckFlags, command: Command) => {
      const output = command.configureOutput();
      const path = file ?? options.config;
      const webFile = options['web.config.file'] ?? '';
      const web = webFile === '' ? undefined : await loadWebConfig(webFile, process.env);
      const result = await loadConfig(path, process.env);
      if (result.ok) output.writeOut?.(`${path} is valid\n\n${describeConfig(result.config)}\n`);
      else output.writeErr?.(`${formatIssues(result.issues)}\n`);
      if (web?.ok === true) output.writeOut?.(`\n${webFile} is valid\n`);
      const remarks = web === undefined ? [] : web.ok ? web.warnings : web.issues;
      if (remarks.length > 0) output.writeErr?.(`${formatIssues(remarks)}\n`);
      process.exitCode = result.ok && web?.ok !== false ? 0 : 1;
    });
}
