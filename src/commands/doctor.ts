import { Command } from 'commander';
import { apiAccess, socketAccess } from '../app/panel-access.ts';
import type { Config, PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { Canceled, STOPPED } from '../doctor/canceled.ts';
import { type DoctorSelection, examine, select, withServer } from '../doctor/doctor.ts';
import { painter, wantsColors } from '../doctor/paint.ts';
import type { DoctorPanel } from '../doctor/panel-trial.ts';
import { LiveProgress, type Progress, SILENT_PROGRESS } from '../doctor/progress.ts';
import { issuesDocument, renderReport, reportDocument } from '../doctor/render.ts';
import { type DoctorReport, isAllHealthy } from '../doctor/report.ts';
import { type Clock, SystemClock } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { ListedPorts } from '../fleet/listed-ports.ts';
import type { ResolveName } from '../names/name-lookups.ts';
import { systemNames } from '../names/system.ts';
import type { ListedServer } from '../panel/dialect.ts';
import type { QueryClient } from '../query/client.ts';
import { QueryThread } from '../query/query-thread.ts';
import { systemService } from '../query/services.ts';
import { formatIssues } from '../yaml/issues.ts';
import { CommandFailure } from './command-line.ts';
import { rateProblem } from './fleet-needs.ts';
import { listingOf } from './listing-selection.ts';

interface DoctorFlags extends DoctorSelection {
  readonly config: string;
  readonly json?: boolean;
}

type Write = (text: string) => void;

/** `doctor`: tries every panel and server once and shows what is wrong and what to change. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('test every panel and server once, step by step, and report problems and how to fix them')
    .argument('[config]', 'configuration file (default: the value of --config)')
    .option('--config <file>', 'configuration file', 'config.yaml')
    .option('--panel <name>', 'test only this panel')
    .option('--server <name|id>', 'test only this server')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      `
Steps for each panel: reach, key, limit, listing (if discover is set), clock.
Steps for each server: found, credentials, upgrade, auth, stats, resources,
query (if its game is queried).
doctor stays within the panel's rate limit and changes nothing: it sends only
auth and send stats.

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
        (text) => output.writeOut?.(KNOWN_SECRETS.redact(text)),
        (text) => output.writeErr?.(KNOWN_SECRETS.redact(text)),
      );
    });
}

async function doctor({ config: file, json = false, ...selection }: DoctorFlags, out: Write, err: Write) {
  const loaded = await loadConfig(file, process.env);
  if (!loaded.ok) {
    err(`${formatIssues(loaded.issues)}\n`);
    if (json) out(`${JSON.stringify(issuesDocument(loaded.issues), undefined, 2)}\n`);
    return 1;
  }
  const clock = new SystemClock();
  const queries = new QueryThread();
  const panels = select(doctorPanels(loaded.config, clock, queries), selection);
  if (typeof panels === 'string') throw new CommandFailure(panels);
  const examined = await examineUntilSignal(panels, clock, json, err);
  await queries.stop();
  const { server } = selection;
  const report = server === undefined ? examined : withServer(examined, server);
  if (typeof report === 'string') throw new CommandFailure(report);
  out(
    json
      ? `${JSON.stringify(reportDocument(report), undefined, 2)}\n`
      : renderReport(report, painter(wantsColors(process.stdout, process.env))),
  );
  return isAllHealthy(report) ? 0 : 1;
}

/** Runs until everything was tried or a signal stops it; after the first signal, the next one ends the process as usual. */
async function examineUntilSignal(
  panels: readonly DoctorPanel[],
  clock: Clock,
  json: boolean,
  err: Write,
): Promise<DoctorReport> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Canceled(STOPPED));
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, onSignal);
  const live = liveProgress(clock, json, err);
  try {
    return await examine(panels, { clock, signal: stop.signal, progress: live ?? SILENT_PROGRESS });
  } finally {
    live?.end();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

/** The assumed width of a terminal that doesn't report it. */
const COLUMNS = 80;

// With JSON output, progress is shown only to a person at a terminal, and never written to a log.
function liveProgress(
  clock: Clock,
  json: boolean,
  write: Write,
): (Progress & Pick<LiveProgress, 'end'>) | undefined {
  const { stderr } = process;
  if (json && !stderr.isTTY) return undefined;
  const paint = painter(wantsColors(stderr, process.env));
  const screen = {
    write,
    get columns() {
      if (!stderr.isTTY) return undefined;
      return stderr.columns > 0 ? stderr.columns : COLUMNS;
    },
  };
  return new LiveProgress({ screen, clock, paint });
}

/** The panels of a configuration, in the form that the doctor uses. */
export function doctorPanels(
  { panels }: Pick<Config, 'panels'>,
  clock: Clock,
  client: QueryClient = new QueryThread(),
): readonly DoctorPanel[] {
  const names = systemNames();
  return panels.map((panel) => doctorPanel(panel, clock, names.forPanel(), client));
}

function doctorPanel(
  panel: PanelConfig,
  clock: Clock,
  resolve: ResolveName,
  client: QueryClient,
): DoctorPanel {
  const { name, url, origin, connectTimeoutMs, authTimeoutMs, requestsPerMinute } = panel;
  let ports = new ListedPorts([]);
  const read = (listed: readonly ListedServer[]) => {
    ports = new ListedPorts(listed);
  };
  return {
    name,
    url,
    targets: panel.servers,
    shortfall: (servers, perMinute) => rateProblem(panel, servers, { perMinute, source: 'the API budget' }),
    api: apiAccess(panel, clock, resolve),
    sockets: {
      settings: { origin, connectTimeoutMs, authTimeoutMs },
      ...socketAccess(panel, clock, resolve),
    },
    queries: {
      client,
      policy: { panelUrl: url, queryHosts: panel.queryHosts },
      isTaken: (server, port) => ports.isTaken(server, port),
      resolve,
      findService: systemService,
    },
    listing: listingOf(panel, read),
    pinnedPerMinute: requestsPerMinute,
  };
}
