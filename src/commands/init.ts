// The command `init`: creates a configuration for one panel and tests it against that panel.

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { Command } from 'commander';
import { stringify } from 'yaml';
import type { PanelConfig } from '../config/config.ts';
import { isClearText } from '../config/panel-url.ts';
import { parseConfig } from '../config/parse.ts';
import { CAUSES } from '../diagnosis/causes.ts';
import { outageProblem } from '../diagnosis/outage-problem.ts';
import { Printout } from '../doctor/paint.ts';
import { limitText, problemBlocks } from '../doctor/render.ts';
import type { ListingType } from '../domain/listing-settings.ts';
import { SystemClock } from '../domain/time.ts';
import { walkListing } from '../fleet/listing-walk.ts';
import { toProblem } from '../panel/panel-error.ts';
import type { KeyAccount } from '../panel/responses.ts';
import { madePerMinute } from '../panel/scheduler/rate-limit.ts';
import { typeOfEgg } from '../query/eggs.ts';
import { printable } from '../text/printable.ts';
import { KNOWN_SECRETS } from '../text/secrets.ts';
import { listed } from '../text/sentences.ts';
import { formatIssues } from '../yaml/issues.ts';
import { panelApi } from './api-client.ts';
import { CommandFailure } from './command-failure.ts';
import { invocation, shellWord } from './command-line.ts';
import {
  type AnswerFlags,
  type Answers,
  type Asker,
  missingFlags,
  otherAnswers,
  readKey,
  readUrl,
  STOPPED,
  terminalAsker,
} from './init-answers.ts';
import { alwaysRunning, expectLines } from './init-expect.ts';
import { existsMessage, makePrivate, realPath, requireDirectories, writePrivately } from './init-files.ts';
import { interruptible } from './interruptible.ts';

interface InitFlags extends AnswerFlags {
  readonly config: string;
  readonly name?: string;
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
    .option('--name <name>', "name of the panel, its label in the metrics (default: the URL's host)")
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
every server of the panel if the account is an administrator's and has none of its
own. In a terminal, init also asks which servers should always run (expect), and
whether to count players (query: auto). Only you can read the files.

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
      const output = command.configureOutput();
      await interruptible(async (signal) => {
        try {
          await init(flags, {
            asker: canAsk ? await terminalAsker(signal) : undefined,
            signal,
            print: (text) => output.writeOut?.(KNOWN_SECRETS.redact(text)),
            note: (text) => output.writeErr?.(KNOWN_SECRETS.redact(text)),
          });
        } catch (error) {
          throw signal.aborted ? new CommandFailure(STOPPED, { cause: error }) : error;
        }
      });
    });
}

function usageProblem(flags: InitFlags, canAsk: boolean): string | undefined {
  const { keyFile, keyVariable } = flags;
  if (keyFile !== undefined && keyVariable !== undefined)
    return 'expected either --key-file or --key-variable, got both';
  const { config, key } = chooseTargets(flags);
  if (realPath(config) === realPath(key))
    return `expected different files for the configuration and the key, got ${config} for --config and ${key} for --save-key-to`;
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
  const targets = chooseTargets(flags);
  requireDirectories([targets.config, targets.key]);
  const replaces = await mayReplace(targets, flags, asker);
  // Otherwise, a signal would have no effect while standard input is silent.
  const input = flags.keyFile === '-' ? addAbortSignal(signal, process.stdin) : process.stdin;
  const page = Printout.for(process.stderr, process.env);
  const explain = (text: string) => note(`\n${page.wrapped(text)}\n`);
  const sources = { env: process.env, input, asker, explain };
  const url = await readUrl(flags, asker);
  let answers: Answers = { url, key: await readKey(flags, sources) };
  for (;;) {
    const panel = await readPanel(flags, answers, targets);
    note(`Testing ${panel.url} …\n`);
    const seen = await look(panel, panel.listing?.type, signal);
    signal.throwIfAborted();
    const { problem } = seen;
    if (problem === undefined) {
      const chosen = await chooseServers(panel, seen, { asker, signal, note });
      const text = configText(flags, answers, targets, chosen.discover);
      signal.throwIfAborted();
      write(targets, { text, key: answers.key.reveal() }, replaces);
      print(written(chosen.seen, panel, targets));
      return;
    }
    const { remedy } = CAUSES[problem.cause];
    const shown = { panel: panel.name, result: 'failed', remedy, nodes: [], servers: [] } as const;
    note(`${problemBlocks([{ ...problem, ...shown }], page).join('\n')}\n`);
    answers = await otherAnswers(flags, sources, answers, problem.cause);
  }
}

/**
 * The settings of `discover`. Asks an administrator without servers whether to monitor all servers
 * of the panel, then which servers should always run, and whether to count players.
 */
async function chooseServers(
  panel: PanelConfig,
  own: FirstLook,
  { asker, signal, note }: Pick<InitContext, 'asker' | 'signal' | 'note'>,
) {
  const discover: string[] = [];
  let seen = own;
  if (own.servers.length === 0 && own.account?.isAdmin === true) {
    const all = await look(panel, 'admin-all', signal);
    const { length } = all.servers;
    const question = `The account is an administrator's, and has no servers of its own. Monitor all ${length} servers of the panel?`;
    if (all.problem === undefined && length > 0 && (await asker?.confirms(question)) !== false) {
      discover.push('type: admin-all');
      seen = all;
    }
  }
  const always = await chooseExpected(panel, seen, { asker, signal, note });
  const known = seen.servers.filter(({ egg = '' }) => typeOfEgg(egg) !== undefined).length;
  const question = `Count players? This queries the games of ${known} of ${seen.servers.length} servers every 30 seconds.`;
  if (known > 0 && (await asker?.confirms(question)) === true) discover.push('query: auto');
  return { discover: [...discover, ...expectLines(always)], seen };
}

/** The servers that should always run. */
async function chooseExpected(
  panel: PanelConfig,
  { servers, limitPerMinute }: FirstLook,
  { asker, signal, note }: Pick<InitContext, 'asker' | 'signal' | 'note'>,
) {
  const api = panelApi(panel, new SystemClock());
  try {
    return await alwaysRunning(servers, {
      asker,
      mostAsked: madePerMinute(limitPerMinute),
      isRunning: async ({ uuid }) => {
        const { value } = await api.get('resources', { id: uuid }, signal);
        return value.sample?.state === 'running';
      },
      note,
    });
  } finally {
    await api.close();
  }
}

/** The files to write. */
interface Targets {
  readonly config: string;
  readonly key: string;
  /** The key file already exists. */
  readonly keepsKey: boolean;
}

function chooseTargets({ config, saveKeyTo, keyFile }: InitFlags): Targets {
  const key = saveKeyTo ?? join(dirname(config), 'panel-key');
  const keepsKey = keyFile !== undefined && keyFile !== '-' && realPath(keyFile) === realPath(key);
  return { config, key, keepsKey };
}

/**
 * Whether existing files may be overwritten. Throws a CommandFailure if a file exists that must not
 * be overwritten.
 */
async function mayReplace(
  { config, key, keepsKey }: Targets,
  { force = false }: InitFlags,
  asker: Asker | undefined,
): Promise<boolean> {
  const taken = [config, ...(keepsKey ? [] : [key])].filter((path) => existsSync(path));
  if (taken.length === 0 || force) return force;
  if (asker === undefined) throw new CommandFailure(existsMessage(taken));
  const question = `${taken.join(' and ')} ${taken.length === 1 ? 'exists' : 'exist'}. Overwrite?`;
  if (await asker.confirms(question)) return true;
  throw new CommandFailure(STOPPED);
}

/** The text of the configuration file. */
function configText(
  { name }: InitFlags,
  { url }: Answers,
  targets: Targets,
  discover: readonly string[],
): string {
  const from = resolve(dirname(targets.config));
  const near = relative(from, resolve(targets.key));
  const keyFile = near.startsWith('..') || isAbsolute(near) ? resolve(targets.key) : near;
  return `# All settings: docs/configuration.md and config.example.yaml. After a change, run check and doctor.
panels:
  - name: ${scalar(name ?? new URL(url).host)}
    url: ${scalar(url)}
    api_key_file: ${scalar(keyFile)}
${isClearText(url) ? '    allow_insecure: true\n' : ''}    # Discovers every server that the key's account can access. To choose: include, exclude, expect.
    discover:${discoverText(discover)}
`;
}

/** In one line, if each setting has one. */
function discoverText(settings: readonly string[]): string {
  if (settings.length === 0) return ' true';
  const isNested = settings.some((line) => line.startsWith(' '));
  if (isNested) return settings.map((line) => `\n      ${line}`).join('');
  return ` { ${settings.join(', ')} }`;
}

function scalar(text: string): string {
  // A function, because in a replacement text `$$` means `$`.
  return stringify(
    text.replaceAll('${', () => '$${'),
    { lineWidth: 0 },
  ).trim();
}

/** The panel as the exporter will read it from the configuration. */
async function readPanel(flags: InitFlags, answers: Answers, targets: Targets): Promise<PanelConfig> {
  const { config, issues } = await parseConfig(configText(flags, answers, targets, []), flags.config, {});
  if (config === undefined) throw new CommandFailure(formatIssues(issues));
  const [panel] = config.panels;
  if (panel === undefined) throw new Error('the generated configuration has no panel');
  return { ...panel, apiKey: answers.key };
}

/**
 * What the key can access on the panel: the servers, the account if the panel reports it, and the
 * rate limit.
 */
type FirstLook = Awaited<ReturnType<typeof look>>;

async function look(panel: PanelConfig, type: ListingType | undefined, signal: AbortSignal) {
  const api = panelApi(panel, new SystemClock());
  let limitPerMinute: number | undefined;
  try {
    const walk = await walkListing(async (query) => {
      const answer = await api.get('listing', { ...query, type }, signal);
      limitPerMinute = answer.limitPerMinute ?? limitPerMinute;
      return answer.value;
    }, signal);
    const { servers, complete } = walk;
    const problem = complete ? undefined : outageProblem('panel', toProblem(walk.problem));
    // Without the account, only a name is missing.
    const account = problem ? undefined : await api.get('account', {}, signal).catch(() => undefined);
    limitPerMinute ??= api.defaultPerMinute;
    return { servers, problem, account: account?.value, limitPerMinute };
  } finally {
    await api.close();
  }
}

function write(targets: Targets, { text, key }: { text: string; key: string }, replaces: boolean): void {
  const config = { path: targets.config, text };
  if (targets.keepsKey) makePrivate(targets.key);
  // The key comes first, so that a configuration never exists without it.
  const files = targets.keepsKey ? [config] : [{ path: targets.key, text: `${key}\n` }, config];
  writePrivately(files, replaces);
}

function written(
  { servers, account, limitPerMinute: known }: FirstLook,
  { url }: PanelConfig,
  targets: Targets,
) {
  const page = Printout.for(process.stdout, process.env);
  const accountText =
    account === undefined ? 'not reported by the panel' : printable(account.username) + adviceOn(account);
  const names = servers.map(({ name }) => name);
  const serverText =
    names.length === 0
      ? 'none yet: add the account to servers as a subuser, and they are discovered automatically'
      : `${names.length}: ${listed(names, 5)}`;
  const files = [targets.config, ...(targets.keepsKey ? [] : [targets.key])].join(' and ');
  const [run, file] = [invocation(), shellWord(targets.config)];
  return `${page.wrapped(`The panel at ${url} accepts the key.`)}

${page.wrapped(accountText, '  account  ')}
${page.wrapped(serverText, '  servers  ')}
${page.wrapped(limitText(known, madePerMinute(known), false), '  limit    ')}

${page.wrapped(`Wrote ${files} (readable only by you)`)}

Next:
  ${run} check --config ${file}
  ${run} doctor --config ${file}
  ${run} serve --config ${file}
`;
}

/** What an administrator should know about the key. */
function adviceOn({ isAdmin, isKeyUnlimited }: KeyAccount): string {
  if (!isAdmin) return '';
  return `, an administrator${isKeyUnlimited ? ': the key can change everything, so prefer a read-only account' : ''}`;
}
