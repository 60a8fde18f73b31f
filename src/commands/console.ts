import { createInterface } from 'node:readline';
import { Command, InvalidArgumentError, Option } from 'commander';
import { socketAccess } from '../app/panel-access.ts';
import type { PanelConfig } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { apiKeyOfFile, apiKeyProblem } from '../config/values.ts';
import {
  type Chosen,
  choosePanels,
  chooseServer,
  hasId,
  isServerId,
  namesOf,
  noSuchServer,
} from '../console/choose-server.ts';
import { type ConsolePlan, ConsoleRun } from '../console/console-run.ts';
import type { ConsoleOutcome } from '../console/conversation.ts';
import { explainProblem } from '../console/messages.ts';
import { PipeScreen, type Screen, TerminalScreen } from '../console/screen.ts';
import { lengthProblem } from '../console/server-control.ts';
import { wantsColors } from '../doctor/paint.ts';
import { type Clock, SystemClock } from '../domain/clock.ts';
import type { ListingType } from '../domain/discovery.ts';
import { parseDuration } from '../domain/durations.ts';
import { printable } from '../domain/printable.ts';
import { Secret } from '../domain/secret.ts';
import type { ServerTarget } from '../domain/server.ts';
import { systemNames } from '../names/system.ts';
import type { PanelApi } from '../panel/api.ts';
import { type ListedServer, POWER_ACTIONS, type PowerAction } from '../panel/dialect.ts';
import { PTERODACTYL } from '../panel/dialects/pterodactyl.ts';
import { walkListing } from '../panel/listing.ts';
import type { Environment } from '../yaml/document.ts';
import { formatIssues } from '../yaml/issues.ts';
import { API_KEY_FILE, readTextFile, unreadable } from '../yaml/text-file.ts';
import { CommandFailure } from './command-line.ts';
import { panelApi } from './panel-api.ts';

/** The servers in a panel's server list; rejects with a PanelError. */
async function listedServers(
  api: Pick<PanelApi, 'listing'>,
  type: ListingType | undefined,
  signal: AbortSignal,
): Promise<readonly ListedServer[]> {
  const { servers, failure } = await walkListing(async (query) => {
    const { value } = await api.listing(type === undefined ? query : { ...query, type }, signal);
    return value;
  });
  if (failure !== undefined) throw failure.error;
  return servers;
}

/** A server that isn't in the configuration. */
export function target(panel: string, id: string, name: string): ServerTarget {
  return { panel, id, name, labels: {}, expect: 'any', mode: 'socket', limits: {} };
}

/** The flags that select the server and the API key. */
interface ServerFlags {
  readonly config: string;
  readonly panel?: string;
  readonly apiKeyFile?: string;
}

/** The selected server, on its panel with the API key to use. */
interface FoundServer extends Chosen<PanelConfig> {
  /** A description of where the key came from. */
  readonly keySource: string;
  readonly isOwnKey: boolean;
}

/** Finds a server by name or id, short or full; throws a CommandFailure unless there is exactly one. */
export async function findServer(wanted: string, flags: ServerFlags, clock: Clock): Promise<FoundServer> {
  const own = await ownKey(flags.apiKeyFile, process.env);
  const loaded = await loadConfig(flags.config, process.env, { skipKeyFiles: own !== undefined });
  if (!loaded.ok) throw new CommandFailure(formatIssues(loaded.issues));
  const panels = choosePanels(loaded.config.panels, flags.panel);
  if (typeof panels === 'string') throw new CommandFailure(panels);
  const keyed = panels.map((panel) => withKey(panel, own));
  const configured = chooseServer(keyed, wanted);
  const chosen = isCertain(configured, keyed, wanted, own)
    ? configured
    : await findElsewhere(keyed, wanted, own, clock);
  if (typeof chosen === 'string') throw new CommandFailure(chosen);
  const keySource = own?.source ?? `the configuration (${chosen.panel.apiKeySource})`;
  return { ...chosen, keySource, isOwnKey: own !== undefined };
}

/** Whether no discovered server can be meant: one of another panel can have the id that is a name in the configuration. */
function isCertain<Configured extends Chosen<PanelConfig> | string>(
  configured: Configured | undefined,
  panels: readonly PanelConfig[],
  wanted: string,
  own: OwnKey | undefined,
): configured is Configured {
  if (configured === undefined) return false;
  if (typeof configured === 'string' || panels.length === 1 || own !== undefined) return true;
  return !isServerId(wanted) || hasId(configured.target, wanted);
}

function withKey(panel: PanelConfig, own: OwnKey | undefined): PanelConfig {
  return own === undefined ? panel : { ...panel, apiKey: own.key };
}

/** Finds a server that isn't in the configuration: a discovered one, or any server by its id if the panel is unambiguous. */
async function findElsewhere(
  panels: readonly PanelConfig[],
  wanted: string,
  own: OwnKey | undefined,
  clock: Clock,
): Promise<Chosen<PanelConfig> | string> {
  const [only] = panels;
  if (panels.length === 1 && only !== undefined && isServerId(wanted)) {
    return { panel: only, target: target(only.name, wanted, wanted) };
  }
  if (own !== undefined && panels.length > 1) {
    // A key is only sent to its own panel, which can't be derived from the key or the server.
    return `${noSuchServer(panels, wanted)}; your own key is sent only to a panel that you select: add --panel <name> (panels: ${namesOf(panels)})`;
  }
  const listed = await Promise.all(panels.map((panel) => withListed(panel, clock)));
  return chooseServer(listed, wanted) ?? noSuchServer(listed, wanted);
}

/** The panel with the servers that it discovers, after those of the configuration. */
async function withListed(panel: PanelConfig, clock: Clock): Promise<PanelConfig> {
  if (panel.listing?.discover === undefined) return panel;
  const servers = (await listing(panel, clock)).map(({ uuid, name }) => target(panel.name, uuid, name));
  return { ...panel, servers: [...panel.servers, ...servers] };
}

/** The servers in a panel's server list; throws a CommandFailure if it can't be read. */
async function listing(panel: PanelConfig, clock: Clock): Promise<readonly ListedServer[]> {
  const api = panelApi(panel, clock);
  try {
    return await listedServers(api, panel.listing?.type, new AbortController().signal);
  } catch (error) {
    throw new CommandFailure(`panel ${panel.name}: ${(error as Error).message}`, { cause: error });
  } finally {
    await api.close();
  }
}

/** The environment variable with the user's own key. */
const KEY_VARIABLE = 'GAMESERVER_CONSOLE_API_KEY';

/** The user's own API key. */
interface OwnKey {
  readonly key: Secret;
  /** A description of where the key came from. */
  readonly source: string;
}

/** The key in the file, or else in the variable, or none; throws a CommandFailure if it is invalid. */
async function ownKey(file: string | undefined, env: Environment): Promise<OwnKey | undefined> {
  if (file !== undefined) {
    const read = await readTextFile(file, API_KEY_FILE);
    const shown = JSON.stringify(file);
    if (!read.ok) throw new CommandFailure(`--api-key-file ${shown} ${unreadable(read)}`);
    return checked(apiKeyOfFile(read.content), `the file ${shown}`);
  }
  const value = env[KEY_VARIABLE];
  return value === undefined || value === '' ? undefined : checked(value, KEY_VARIABLE);
}

function checked(key: string, source: string): OwnKey {
  const problem = apiKeyProblem(key);
  if (problem !== undefined) throw new CommandFailure(`${source}: ${problem}`);
  return { key: new Secret(key), source };
}

interface ConsoleFlags extends ServerFlags {
  readonly logs?: boolean;
  readonly send?: readonly string[];
  readonly power?: PowerAction;
  readonly yes?: boolean;
  readonly for?: number;
}

/** `console`: one server's live console, using the user's own key. */
export function consoleCommand(): Command {
  return new Command('console')
    .description("show a server's live console, send commands, and start or stop the server")
    .argument('<server>', "the server's name, or its short or full id")
    .option('--config <file>', 'configuration file', 'config.yaml')
    .option('--panel <name>', 'search only this panel')
    .option(
      '--api-key-file <file>',
      `file with your own API key (default: ${KEY_VARIABLE}, or else the key in the configuration)`,
    )
    .option('--logs', 'show recent lines first')
    .option('--send <command>', "send this command, and don't read input; repeatable", collect)
    .addOption(
      new Option(
        '--power <action>',
        "start, stop, restart or kill the server, wait until it is done, and don't read input; asks for confirmation",
      ).choices(POWER_ACTIONS),
    )
    .option('--yes', "don't ask for confirmation of --power")
    .option('--for <duration>', 'exit after this time, such as 5s or 10m', duration)
    .addHelpText(
      'after',
      `
In a terminal, type commands; Ctrl-C or Ctrl-D exits. With piped input, each
line is a command. With piped output, only the server's lines go to standard
output, without colors. At the end of the input, the program exits once the
server is silent. Use your own API key: the exporter's key should belong to a
read-only account.

Examples:
  $ gameserver-exporter console survival --logs
  $ gameserver-exporter console survival --api-key-file ~/.config/panel-key
  $ gameserver-exporter console survival --send "say restart in a minute" --send save-all
  $ gameserver-exporter console survival --power restart --yes
  $ gameserver-exporter console survival --for 1m </dev/null | grep -i error

Exit codes: 0 success, or stopped by a signal · 1 error · 2 invalid usage`,
    )
    .action(async (server: string, flags: ConsoleFlags, command: Command) => {
      const problem = usageProblem(flags);
      if (problem !== undefined) command.error(`error: ${problem}`);
      const { code, error } = await runConsole(server, flags);
      if (error !== undefined) throw new CommandFailure(error);
      process.exitCode = code;
    });
}

function collect(command: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, command];
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError('Expected a duration such as 5s or 10m.');
}

function usageProblem({ send = [], power, yes = false }: ConsoleFlags): string | undefined {
  for (const command of send) {
    if (command.trim() === '') return '--send: expected a command, but it is empty';
    // The panel isn't known yet, so the limit of most panels is used.
    const problem = lengthProblem(command, PTERODACTYL.socket);
    if (problem !== undefined) return `--send "${printable(command)}": ${problem}`;
  }
  if (power === undefined || yes || canAsk()) return undefined;
  return `--power ${power} asks for confirmation, but there is no terminal: add --yes`;
}

function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

async function runConsole(server: string, flags: ConsoleFlags): Promise<ConsoleOutcome> {
  const clock = new SystemClock();
  const { panel, target, keySource, isOwnKey } = await findServer(server, flags, clock);
  const { power, yes = false } = flags;
  if (power !== undefined && !yes && !(await confirmed(`${power} ${target.name} on panel ${panel.name}?`))) {
    return { code: 1, error: `${power} was not confirmed: nothing was done` };
  }
  const plan = planOf(flags);
  const api = panelApi(panel, clock);
  let end = (_outcome: ConsoleOutcome): void => undefined;
  const screen = openScreen(plan, target.name, () => end({ code: 0 }));
  if (!isOwnKey) {
    screen.note(
      `using the exporter's API key from ${keySource}: prefer your own, with --api-key-file or ${KEY_VARIABLE}`,
    );
  }
  const run = createConsole({ panel, target, keySource, plan, screen, clock, random: Math.random }, api);
  end = (outcome) => run.end(outcome);
  const release = onEnd(() => end({ code: 0 }));
  try {
    return await run.run();
  } finally {
    release();
    await api.close();
  }
}

function planOf({ logs = false, power, send = [], for: forMs }: ConsoleFlags): ConsolePlan {
  const isTask = power !== undefined || send.length > 0;
  return {
    logs,
    commands: send,
    interactive: !isTask && process.stdin.isTTY && process.stdout.isTTY,
    readsInput: !isTask,
    power,
    forMs,
  };
}

function openScreen({ interactive, readsInput }: ConsolePlan, name: string, onInterrupt: () => void): Screen {
  const { stdin, stdout, stderr } = process;
  const color = wantsColors(stdout, process.env);
  if (interactive)
    return new TerminalScreen({ stdin, stdout, color, prompt: `${printable(name)}> `, onInterrupt });
  return new PipeScreen({ stdout, stderr, color, stdin: readsInput ? stdin : undefined });
}

/** Listens for what ends a console from outside: signals, and a reader that has gone away. */
function onEnd(end: () => void): () => void {
  const signals = ['SIGINT', 'SIGTERM'] as const;
  // Only once, so that a second signal ends the process as usual.
  for (const signal of signals) process.once(signal, end);
  process.stdout.on('error', end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

/** Asks a yes-or-no question in the terminal; anything but a yes means no. */
function confirmed(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    asking.once('close', () => resolve(false));
    asking.question(`${printable(question)} [y/N] `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()));
      asking.close();
    });
  });
}

/** The console to open, and the key to use. */
export interface ConsoleOptions {
  /** Includes the API key to use. */
  readonly panel: PanelConfig;
  readonly target: ServerTarget;
  /** A description of where the key came from. */
  readonly keySource: string;
  readonly plan: ConsolePlan;
  readonly screen: Screen;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Assembles a console; nothing is opened until it is run. */
export function createConsole(options: ConsoleOptions, api: PanelApi): ConsoleRun {
  const { panel, target, keySource, plan, screen, clock, random } = options;
  const credentials = async (signal: AbortSignal) => (await api.credentials(target.id, signal)).value;
  return new ConsoleRun(plan, {
    name: printable(target.name),
    panel: printable(panel.name),
    link: {
      ...socketAccess(panel, clock, systemNames(clock).forPanel()),
      settings: panel,
      target,
      clock,
      random,
      credentials,
    },
    screen,
    clock,
    explain: (problem) => explainProblem(problem, keySource),
  });
}
