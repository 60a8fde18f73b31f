// The command `doctor`: its flags, its progress line and its exit code.

import { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { Printout } from '../doctor/paint.ts';
import { renderReport } from '../doctor/render.ts';
import { type DoctorReport, isAllHealthy } from '../doctor/report.ts';
import { issuesDocument, reportDocument } from '../doctor/report-document.ts';
import { type RunOptions, runDoctor } from '../doctor/run.ts';
import { type Clock, SystemClock } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { quantity } from '../text/sentences.ts';
import { formatIssues } from '../yaml/issues.ts';
import { CommandFailure } from './command-failure.ts';
import { descriptorLimit } from './descriptor-limit.ts';
import { type DoctorSelection, select, withServer } from './doctor-selection.ts';
import { interruptible } from './interruptible.ts';

interface DoctorFlags extends DoctorSelection {
  readonly config: string;
  readonly json?: boolean;
}

type Write = (text: string) => void;

/** `doctor`: runs the exporter for up to a minute and shows what is wrong and what to change. */
export function doctorCommand(clock: Clock = new SystemClock()): Command {
  return new Command('doctor')
    .description('run the exporter for up to a minute, and report problems and how to fix them')
    .argument('[config]', 'configuration file (default: the value of --config)')
    .option('--config <file>', 'configuration file', 'config.yaml')
    .option('--panel <name>', 'test only this panel')
    .option('--server <name|id>', 'test only this server')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      `
doctor ends when every server has data or a problem, and after a minute at the
latest. It reports the problems that the exporter would report, and the servers
that the rules of discover select. It stays within the panel's rate limit and
changes nothing: it sends only auth and send stats.

Examples:
  $ gameserver-exporter doctor --config config.yaml
  $ gameserver-exporter doctor --panel main --server survival
  $ gameserver-exporter doctor --json | jq '.panels[].servers[] | select(.ok | not)'

Exit codes: 0 no problems · 1 problems, or invalid file · 2 invalid usage`,
    )
    .action(async (file: string | undefined, flags: DoctorFlags, command: Command) => {
      const output = command.configureOutput();
      process.exitCode = await doctor(
        { ...flags, config: file ?? flags.config },
        clock,
        (text) => output.writeOut?.(KNOWN_SECRETS.redact(text)),
        (text) => output.writeErr?.(KNOWN_SECRETS.redact(text)),
      );
    });
}

async function doctor(
  { config: file, json = false, ...selection }: DoctorFlags,
  clock: Clock,
  out: Write,
  err: Write,
): Promise<number> {
  const loaded = await loadConfig(file, process.env);
  if (!loaded.ok) {
    err(`${formatIssues(loaded.issues)}\n`);
    if (json) out(`${JSON.stringify(issuesDocument(loaded.issues), undefined, 2)}\n`);
    return 1;
  }
  const selected = select(loaded.config, selection);
  if (typeof selected === 'string') throw new CommandFailure(selected);
  const ended = await interruptible((signal) =>
    runShowingProgress(selected.config, { clock, signal, ...selected }, err),
  );
  const { server } = selection;
  const report = server === undefined ? ended : withServer(ended, server);
  if (typeof report === 'string') throw new CommandFailure(report);
  out(
    json
      ? `${JSON.stringify(reportDocument(report), undefined, 2)}\n`
      : renderReport(report, Printout.for(process.stdout, process.env)),
  );
  return isAllHealthy(report) ? 0 : 1;
}

/**
 * Runs until there is something to report or the signal aborts. Shows a progress line in a
 * terminal.
 */
async function runShowingProgress(
  config: Config,
  { clock, signal, isMeant }: Pick<RunOptions, 'clock' | 'signal' | 'isMeant'>,
  err: Write,
): Promise<DoctorReport> {
  const progress = process.stderr.isTTY ? liveProgress(err) : undefined;
  try {
    return await runDoctor(config, {
      clock,
      signal,
      descriptorLimit: descriptorLimit(),
      ...(isMeant !== undefined && { isMeant }),
      ...(progress !== undefined && { onProgress: progress }),
    });
  } finally {
    if (progress !== undefined) err(CLEAR_LINE);
  }
}

const CLEAR_LINE = '\r\u001B[K';

/** Shows a line that is redrawn while the exporter runs. */
function liveProgress(write: Write): NonNullable<RunOptions['onProgress']> {
  return (withData, servers) => write(`${CLEAR_LINE}${withData} of ${quantity(servers, 'server')} have data`);
}
