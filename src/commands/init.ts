import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { type PanelConfig, withSecrets } from '../config/config.ts';
import { parseConfig } from '../config/parse.ts';
import { problemOfBlamed } from '../diagnosis/outcome.ts';
import { describePanel } from '../doctor/describe.ts';
import { painter, wantsColors } from '../doctor/paint.ts';
import { limitWords, renderReport } from '../doctor/render.ts';
import type { DoctorReport } from '../doctor/report.ts';
import { SystemClock } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import { printable } from '../domain/printable.ts';
import type { Problem } from '../domain/problem.ts';
import type { PanelReading } from '../domain/reading.ts';
import type { PanelApi } from '../panel/api.ts';
import type { Account, ListedServer } from '../panel/dialect.ts';
import { problemOf } from '../panel/errors.ts';
import { walkListing } from '../panel/listing.ts';
import { allowedOf } from '../panel/rate-limit.ts';
import { typeOfEgg } from '../query/eggs.ts';
import { formatIssues } from '../yaml/issues.ts';
import { CommandFailure } from './command-line.ts';
import { inTermsOfInit, isReached, schemeWords } from './init-advice.ts';
import {
  type AnswerFlags,
  type Answers,
  type Asker,
  type FailedAnswers,
  isAsked,
  missingFlags,
  readAnswers,
  STOPPED,
  terminalAsker,
} from './init-answers.ts';
import { existsWords, makePrivate, type NewFile, requireDirectories, writePrivately } from './init-files.ts';
import { invocation, shellWord } from './invocation.ts';
import { panelApi } from './panel-api.ts';

interface InitFlags extends AnswerFlags {
  readonly config: string;
  readonly name: string;
  readonly saveKeyTo?: string;
  readonly force?: boolean;
}

/** `init`: asks for a panel and its key, tries both, and writes the configuration. */
export function initCommand(): Command {
  return new Command('init')
    .description("ask for the panel's URL and a client API key, test both, and write a configuration")
    .option('--url <url>', "the panel's URL, as you open it in a browser (default: ask)")
    .option(
      '--key-file <file>',
      'read the client API key from this file, or - for standard input (default: ask)',
    )
    .option('--key-variable <name>', 'read the client API key from this environment variable')
    .option('--config <file>', 'configuration file to write', 'config.yaml')
    .option(
      '--save-key-to <file>',
      'file to write the key to (default: panel-key next to the configuration file)',
    )
    .option('--name <name>', 'name of the panel, its label in the metrics', 'main')
    .option(
      '--allow-insecure',
      'accept an http URL of another machine, which sends the key in clear text (http to 127.0.0.1, ::1 and localhost needs no flag)',
    )
    .option('--force', 'overwrite files without asking')
    .addHelpText(
      'after',
      `
In a terminal, init asks for what is not set by a flag, and does not echo the
key. It writes nothing unless the panel accepts the key. The configuration
discovers every server that the key's account can access (discover: true), or
all servers of the panel if the account is an administrator's who has none. In a
terminal, init also asks whether to count players (query: auto). Only you can
read the files.

Examples:
  $ gameserver-exporter init
  $ gameserver-exporter init --url https://panel.example.com --key-file ~/new-key
  $ pass show panel-key | gameserver-exporter init --url https://panel.example.com --key-file - --force

Exit codes: 0 both files written · 1 error, nothing written · 2 invalid usage`,
    )
    .action(async (flags: InitFlags, command: Command) => {
      const canAsk = process.stdin.isTTY && process.stderr.isTTY;
      const problem = usageProblem(flags, canAsk);
      if (problem !== undefined) command.error(`error: ${problem}`);
      const stop = new AbortController();
      const onSignal = () => stop.abort(new CommandFailure(STOPPED));
      const signals = ['SIGINT', 'SIGTERM'] as const;
      for (const signal of signals) process.once(signal, onSignal);
      try {
        const asker = canAsk ? await terminalAsker(stop.signal) : undefined;
        const output = command.configureOutput();
        await init(flags, {
          asker,
          signal: stop.signal,
          print: (text) => output.writeOut?.(KNOWN_SECRETS.redact(text)),
          note: (text) => output.writeErr?.(KNOWN_SECRETS.redact(text)),
        });
      } finally {
        for (const signal of signals) process.off(signal, onSignal);
      }
    });
}

function usageProblem(flags: InitFlags, canAsk: boolean): string | undefined {
  const { keyFile, keyVariable } = flags;
  if (keyFile !== undefined && keyVariable !== undefined) {
    return 'expected either --key-file or --key-variable, got both';
  }
  const { config, key } = targetsOf(flags);
  if (isSameFile(config, key)) {
    return `expected different files for the configuration and the key, got ${config} for --config and ${key} for --save-key-to`;
  }
  return canAsk ? undefined : missingFlags(flags);
}

/** The terminal that `init` uses, and the signal that stops it. */
interface InitContext {
  readonly asker: Asker | undefined;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
}

async function init(flags: InitFlags, { asker, signal, print, note }: InitContext): Promise<void> {
  const targets = targetsOf(flags);
  requireDirectories([targets.config, targets.key]);
  const replaces = await mayReplace(targets, flags, asker);
  // Otherwise, a signal would have no effect while standard input is silent.
  const input = flags.keyFile === '-' ? addAbortSignal(signal, process.stdin) : process.stdin;
  let failed: FailedAnswers | undefined;
  for (;;) {
    const answers = await readAnswers(flags, { env: process.env, input, asker }, failed).catch(
      (error: unknown) => {
        throw signal.aborted ? new CommandFailure(STOPPED, { cause: error }) : error;
      },
    );
    const text = configText(flags, answers, targets, []);
    const panel = panelIn(text, flags.config, answers);
    note(`Testing ${panel.url} …\n`);
    const seen = await look(panel, signal);
    if (signal.aborted) throw new CommandFailure(STOPPED);
    if (isUsable(seen.report)) {
      const chosen: ConfigDraft = { text, discover: [], panel, seen };
      const given = { flags, answers, targets };
      const best = (await asAdministrator(chosen, given, asker, signal)) ?? chosen;
      const { text: final, ...shown } = await withPlayers(best, given, asker);
      if (signal.aborted) throw new CommandFailure(STOPPED);
      write(targets, { text: final, key: answers.key.reveal() }, replaces);
      print(written(shown.seen, shown.panel, targets));
      return;
    }
    note(renderReport(inTermsOfInit(seen.report, flags), painter(wantsColors(process.stderr, process.env))));
    if (answers.isSchemeAssumed) note(schemeWords(seen.report) ?? '');
    if (!isAsked(flags, asker)) throw new CommandFailure('nothing was written');
    failed = { ...answers, isReached: isReached(seen.report) };
    note('\nNothing was written. Correct your answers, or press Ctrl-C to cancel.\n');
  }
}

/** A configuration, and what was seen with it. */
interface ConfigDraft {
  readonly text: string;
  /** The settings of `discover`. */
  readonly discover: readonly string[];
  readonly panel: PanelConfig;
  readonly seen: Seen;
}

/** What was given, and where it is written. */
interface Given {
  readonly flags: InitFlags;
  readonly answers: Answers;
  readonly targets: Targets;
}

/**
 * The configuration for an administrator who has no servers of their own: it discovers all servers of the panel. Undefined for
 * others, and if the person at the terminal doesn't want that.
 */
async function asAdministrator(
  { seen: { servers, account } }: ConfigDraft,
  { flags, answers, targets }: Given,
  asker: Asker | undefined,
  signal: AbortSignal,
): Promise<ConfigDraft | undefined> {
  if (servers.length > 0 || account?.isAdmin !== true) return undefined;
  const discover = ['type: admin-all'];
  const text = configText(flags, answers, targets, discover);
  const panel = panelIn(text, flags.config, answers);
  const seen = await look(panel, signal);
  const count = seen.servers.length;
  if (!isUsable(seen.report) || count === 0) return undefined;
  const question = `The account has no servers, but is an administrator's. Monitor all ${count} servers of the panel?`;
  return asker === undefined || (await asker.confirms(question))
    ? { text, discover, panel, seen }
    : undefined;
}

/** The same with queries for players, if the person at the terminal wants them. */
async function withPlayers(
  attempt: ConfigDraft,
  { flags, answers, targets }: Given,
  asker: Asker | undefined,
): Promise<ConfigDraft> {
  const { servers } = attempt.seen;
  const known = servers.filter(({ egg = '' }) => typeOfEgg(egg) !== undefined).length;
  const question = `Count players? The games of ${known} of ${servers.length} servers are queried every 30 seconds.`;
  if (known === 0 || asker === undefined || !(await asker.confirms(question))) return attempt;
  const discover = [...attempt.discover, 'query: auto'];
  return { ...attempt, discover, text: configText(flags, answers, targets, discover) };
}

/** The files to write. */
interface Targets {
  readonly config: string;
  readonly key: string;
  /** The key file already exists. */
  readonly keepsKey: boolean;
}

function targetsOf({ config, saveKeyTo, keyFile }: InitFlags): Targets {
  const key = saveKeyTo ?? join(dirname(config), 'panel-key');
  const keepsKey = keyFile !== undefined && keyFile !== '-' && isSameFile(keyFile, key);
  return { config, key, keepsKey };
}

function isSameFile(one: string, other: string): boolean {
  return realPath(one) === realPath(other);
}

/** The absolute path without symbolic links, whether or not the file exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(resolve(path));
    return folder === resolve(path) ? folder : join(realPath(folder), basename(path));
  }
}

/** Whether existing files may be overwritten. Throws a CommandFailure if they are needed and may not be. */
async function mayReplace(
  { config, key, keepsKey }: Targets,
  { force = false }: InitFlags,
  asker: Asker | undefined,
): Promise<boolean> {
  const taken = [config, ...(keepsKey ? [] : [key])].filter((path) => existsSync(path));
  if (taken.length === 0 || force) return force;
  if (asker === undefined) throw new CommandFailure(existsWords(taken));
  const question = `${taken.join(' and ')} ${taken.length === 1 ? 'exists' : 'exist'}. Overwrite?`;
  if (await asker.confirms(question)) return true;
  throw new CommandFailure(STOPPED);
}

/** The text of the configuration file. */
function configText(
  { name, allowInsecure = false }: InitFlags,
  { url }: Answers,
  targets: Targets,
  discover: readonly string[],
): string {
  const from = resolve(dirname(targets.config));
  const near = relative(from, resolve(targets.key));
  const keyFile = near.startsWith('..') || isAbsolute(near) ? resolve(targets.key) : near;
  return `# All settings: docs/configuration.md and config.example.yaml. After a change, run check and doctor.
panels:
  - name: ${scalar(name)}
    url: ${scalar(url)}
    api_key_file: ${scalar(keyFile)}
${allowInsecure && url.startsWith('http:') ? '    allow_insecure: true\n' : ''}    # Discovers every server that the key's account can access. To choose: include, exclude, expect.
    discover: ${discover.length === 0 ? 'true' : `{ ${discover.join(', ')} }`}
`;
}

function scalar(text: string): string {
  // A function, because in a replacement text `$$` means `$`.
  return stringify(
    text.replaceAll('${', () => '$${'),
    { lineWidth: 0 },
  ).trim();
}

/** The panel as the exporter will read it from the configuration. */
function panelIn(text: string, file: string, { key }: Answers): PanelConfig {
  const { settings, issues } = parseConfig(text, file, {});
  if (settings === undefined) throw new CommandFailure(formatIssues(issues));
  const [panel] = withSecrets(settings).panels;
  if (panel === undefined) throw new Error('the generated configuration has no panel');
  return { ...panel, apiKey: key };
}

/** What the key can access on the panel. */
interface Seen {
  readonly report: DoctorReport;
  readonly servers: readonly ListedServer[];
  /** Undefined if the panel doesn't report it. */
  readonly account: Account | undefined;
}

/** Reads the server list and the account. */
async function look(panel: PanelConfig, signal: AbortSignal): Promise<Seen> {
  const clock = new SystemClock();
  const startedAt = clock.now();
  const api = panelApi(panel, clock);
  const type = panel.listing?.type;
  let known: number | undefined;
  let calls = 0;
  try {
    const { servers, failure } = await walkListing(
      async (query) => {
        calls += 1;
        const answer = await api.listing(type === undefined ? query : { ...query, type }, signal);
        known = answer.limitPerMinute ?? known;
        return answer.value;
      },
      { signal },
    );
    const problem = failure && problemOfBlamed('panel', problemOf(failure.error));
    const account = problem === undefined ? await accountOf(api, signal) : undefined;
    const described = describePanel({
      name: panel.name,
      url: panel.url,
      reading: readingOf(panel, problem, known),
      nodes: [],
      servers: [],
      selection: undefined,
      calls,
    });
    const durationMs = clock.now() - startedAt;
    return { report: { panels: [described], stopped: signal.aborted, durationMs }, servers, account };
  } finally {
    await api.close();
  }
}

/** The panel as the exporter shows it without servers. */
function readingOf(
  panel: PanelConfig,
  problem: Problem | undefined,
  known: number | undefined,
): PanelReading {
  return {
    name: panel.name,
    up: problem === undefined,
    problems: problem === undefined ? [] : [problem],
    nodes: () => [],
    capacities: () => [],
    budget: {
      limitPerMinute: allowedOf(known),
      isPinned: false,
      usedLastMinute: 0,
      queueLength: 0,
      paused: false,
      ...(known !== undefined && { knownLimitPerMinute: known }),
    },
    needs: { requiredCallsPerMinute: 0, requiredSockets: 0, allowedSockets: 0, polls: 0 },
  };
}

async function accountOf(api: PanelApi, signal: AbortSignal): Promise<Account | undefined> {
  try {
    return (await api.account(signal)).value;
  } catch {
    // Only a name is missing in that case.
    return undefined;
  }
}

/** Whether the exporter can work with this panel. */
function isUsable({ panels, stopped }: DoctorReport): boolean {
  return !stopped && panels.every(({ up }) => up);
}

function write(targets: Targets, { text, key }: { text: string; key: string }, replaces: boolean): void {
  const config: NewFile = { path: targets.config, text };
  if (targets.keepsKey) makePrivate(targets.key);
  // The key comes first, so that a configuration never exists without it.
  const files = targets.keepsKey ? [config] : [{ path: targets.key, text: `${key}\n` }, config];
  writePrivately(files, replaces);
}

/** The number of servers that are named. */
const NAMED_SERVERS = 5;

function written({ report, servers, account }: Seen, panel: PanelConfig, targets: Targets): string {
  const file = shellWord(targets.config);
  const run = invocation();
  return `The panel at ${panel.url} accepts the key.

  account  ${account === undefined ? 'not reported by the panel' : accountWords(account)}
  servers  ${serverWords(servers)}
  limit    ${report.panels.map(limitWords).join()}

Wrote ${[targets.config, ...(targets.keepsKey ? [] : [targets.key])].join(' and ')} (readable only by you)

Next:
  ${run} check --config ${file}
  ${run} doctor --config ${file}
  ${run} serve --config ${file}
`;
}

function accountWords({ username, isAdmin }: Account): string {
  const name = printable(username);
  return isAdmin
    ? `${name}, an administrator: the key can change everything, so prefer a read-only account`
    : name;
}

function serverWords(servers: readonly ListedServer[]): string {
  if (servers.length === 0)
    return 'none yet: add the account to servers as a subuser, and they are discovered automatically';
  const names = servers.slice(0, NAMED_SERVERS).map(({ name }) => name);
  const rest = servers.length - names.length;
  return `${servers.length}: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
