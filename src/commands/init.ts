// The command `init`: tests a panel and a key, and creates a configuration for them.

import { addAbortSignal } from 'node:stream';
import { Command } from 'commander';
import type { PanelConfig } from '../config/config.ts';
import { CAUSES } from '../diagnosis/causes.ts';
import { Printout } from '../doctor/paint.ts';
import { problemBlocks } from '../doctor/render.ts';
import { SystemClock } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { panelApi } from './api-client.ts';
import { type Asker, CANCELED } from './asker.ts';
import { CommandFailure } from './command-failure.ts';
import {
  type AnswerFlags,
  type Answers,
  missingFlags,
  otherAnswers,
  readKey,
  readUrl,
} from './init-answers.ts';
import { configText, type NewPanel, readPanel } from './init-config.ts';
import { chooseServers } from './init-discover.ts';
import { type OutputFlags, OutputPaths } from './init-output-paths.ts';
import { initSummary } from './init-summary.ts';
import { interruptible } from './interruptible.ts';
import { type KeyAccess, keyAccess } from './key-access.ts';
import { terminalAsker } from './terminal-asker.ts';

interface InitFlags extends AnswerFlags, OutputFlags {
  readonly name?: string;
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
          throw signal.aborted ? new CommandFailure(CANCELED, { cause: error }) : error;
        }
      });
    });
}

function usageProblem(flags: InitFlags, canAsk: boolean): string | undefined {
  const { keyFile, keyVariable } = flags;
  if (keyFile !== undefined && keyVariable !== undefined)
    return 'expected either --key-file or --key-variable, got both';
  return new OutputPaths(flags).problem ?? (canAsk ? undefined : missingFlags(flags));
}

/** The terminal that `init` uses, and the signal that stops it. */
interface InitContext {
  readonly asker: Asker | undefined;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
  readonly note: (text: string) => void;
}

async function init(flags: InitFlags, context: InitContext): Promise<void> {
  const { asker, signal, print, note } = context;
  const paths = new OutputPaths(flags);
  const replaces = await paths.mayReplace(flags.force === true, asker);
  // Without the signal, Ctrl-C would have no effect while standard input is silent.
  const input = flags.keyFile === '-' ? addAbortSignal(signal, process.stdin) : process.stdin;
  const page = Printout.for(process.stderr, process.env);
  const explain = (text: string) => note(`\n${page.wrapped(text)}\n`);
  const sources = { env: process.env, input, asker, explain };
  const url = await readUrl(flags, asker);
  let answers: Answers = { url, key: await readKey(flags, sources) };
  for (;;) {
    const described: NewPanel = { url: answers.url, name: flags.name, keyFile: paths.keyInConfig };
    const panel = await readPanel(described, answers.key, paths.config);
    note(`Testing ${panel.url} …\n`);
    const own = await keyAccess(panel, panel.listing?.type, signal);
    signal.throwIfAborted();
    const { problem } = own;
    if (problem === undefined) {
      const { discover, access } = await choose(panel, own, context);
      signal.throwIfAborted();
      paths.write(configText(described, discover), answers.key.reveal(), replaces);
      print(initSummary(Printout.for(process.stdout, process.env), panel.url, access, paths));
      return;
    }
    const { remedy } = CAUSES[problem.cause];
    const shown = { panel: panel.name, result: 'failed', remedy, nodes: [], servers: [] } as const;
    note(`${problemBlocks([{ ...problem, ...shown }], page).join('\n')}\n`);
    answers = await otherAnswers(flags, sources, answers, problem.cause);
  }
}

/** Asks about the panel's servers, over one connection to the panel. */
async function choose(panel: PanelConfig, own: KeyAccess, { asker, signal, note }: InitContext) {
  const api = panelApi(panel, new SystemClock());
  try {
    return await chooseServers(own, {
      asker,
      accessToAll: () => keyAccess(panel, 'admin-all', signal),
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
