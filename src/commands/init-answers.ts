import { isClearText, panelUrlProblem } from '../config/values.ts';
import { API_KEY_FORM, apiKeyOfFile, apiKeyProblem } from '../domain/api-keys.ts';
import { Secret } from '../domain/secret.ts';
import { API_KEY_FILE, readText, readTextFile, unreadable } from '../yaml/text-file.ts';
import type { Environment } from '../yaml/variables.ts';
import { CommandFailure } from './command-line.ts';

/** The flags that replace the questions of `init`. */
export interface AnswerFlags {
  readonly url?: string;
  readonly keyFile?: string;
  readonly keyVariable?: string;
  readonly allowInsecure?: boolean;
}

/** The input of `init`. */
export interface Answers {
  /** The panel's base address. */
  readonly url: string;
  /** The address was given without a scheme, so https was assumed. */
  readonly isSchemeAssumed: boolean;
  readonly key: Secret;
}

/** The input of an attempt that failed. */
export interface FailedAnswers extends Answers {
  /** The panel responded at the URL. */
  readonly isReached: boolean;
}

/** Validates an answer: returns what is wrong with it, or undefined. */
export type Validate = (answer: string) => string | undefined;

/** Asks a person; rejects with a CommandFailure if the person cancels. */
export interface Asker {
  text(question: string, example: string, validate: Validate): Promise<string>;
  /** Doesn't echo the answer. */
  hidden(question: string, validate: Validate): Promise<string>;
  /** Anything but a yes means no. */
  confirms(question: string): Promise<boolean>;
}

/** Sources of answers in addition to the flags. */
export interface AnswerSources {
  readonly env: Environment;
  /** Standard input, which `--key-file -` reads. */
  readonly input: NodeJS.ReadableStream;
  /** Undefined if nobody can be asked. */
  readonly asker: Asker | undefined;
}

/** The flags that are missing if nobody can be asked; undefined if none are. */
export function missingFlags(flags: AnswerFlags): string | undefined {
  const missing = [
    ...(flags.url === undefined ? ['--url <url>'] : []),
    ...(asksForKey(flags) ? ['--key-file <file> (or --key-variable <name>)'] : []),
  ];
  if (missing.length === 0) return undefined;
  return `missing ${missing.join(' and ')}: required without a terminal`;
}

/** Whether a person gives at least one of the answers. */
export function isAsked(flags: AnswerFlags, asker: Asker | undefined): asker is Asker {
  return asker !== undefined && (flags.url === undefined || asksForKey(flags));
}

/** Whether no flag gives the key. */
function asksForKey({ keyFile, keyVariable }: AnswerFlags): boolean {
  return keyFile === undefined && keyVariable === undefined;
}

/**
 * The answers, from the flags or by asking, where an empty answer keeps the previous one. If the panel was reached, only another
 * key is asked for. Throws a CommandFailure for an invalid answer.
 */
export async function readAnswers(
  flags: AnswerFlags,
  sources: AnswerSources,
  previous?: FailedAnswers,
): Promise<Answers> {
  const keepsUrl = previous?.isReached === true && asksForKey(flags);
  const address = keepsUrl ? previous : await readUrl(flags, sources.asker, previous);
  const { url, isSchemeAssumed } = address;
  return { url, isSchemeAssumed, key: await readKey(flags, sources, previous) };
}

const URL_QUESTION = 'URL of the panel, as you open it in a browser';
const OTHER_URL_QUESTION = 'URL of the panel; empty for the previous URL';
const URL_EXAMPLE = 'https://panel.example.com';
const KEY_QUESTION = 'Client API key (in the panel: account → API credentials), not echoed';
const OTHER_KEY_QUESTION = 'Client API key, not echoed; empty for the previous key';

/** An address without a scheme defaults to https, as in a browser. */
function withScheme(text: string): string {
  const address = text.trim();
  return hasScheme(address) ? address : `https://${address}`;
}

function hasScheme(text: string): boolean {
  return text.includes('://');
}

/** An answer that is an API key alone. */
const ONLY_API_KEY = new RegExp(`^${API_KEY_FORM}$`);

function urlProblem(text: string, allowInsecure: boolean): string | undefined {
  // Taken for a host name, the key would be sent to a DNS server.
  if (ONLY_API_KEY.test(text.trim())) return 'expected the URL of the panel, but this is an API key';
  const url = withScheme(text);
  const problem = panelUrlProblem(url);
  if (problem !== undefined) return problem;
  return isClearText(url) && !allowInsecure
    ? 'expected https, because http sends the API key in clear text (--allow-insecure permits it)'
    : undefined;
}

async function readUrl(
  { url, allowInsecure = false }: AnswerFlags,
  asker: Asker | undefined,
  previous: Answers | undefined,
): Promise<Omit<Answers, 'key'>> {
  const problem = (text: string) => urlProblem(text, allowInsecure);
  if (url === undefined && previous !== undefined) {
    const answer = (await asker?.text(OTHER_URL_QUESTION, previous.url, unlessEmpty(problem))) ?? '';
    if (isEmpty(answer)) return previous;
    return addressIn(answer);
  }
  const given = url ?? (await asker?.text(URL_QUESTION, URL_EXAMPLE, problem)) ?? '';
  const wrong = problem(given);
  if (wrong !== undefined) throw new CommandFailure(`--url: ${wrong}`);
  return addressIn(given);
}

function addressIn(text: string): Omit<Answers, 'key'> {
  return { url: withScheme(text), isSchemeAssumed: !hasScheme(text) };
}

async function readKey(
  flags: AnswerFlags,
  { env, input, asker }: AnswerSources,
  previous: Answers | undefined,
): Promise<Secret> {
  const { keyFile, keyVariable } = flags;
  if (keyFile !== undefined) return checked(await keyIn(keyFile, input), '--key-file');
  if (keyVariable !== undefined) {
    const value = env[keyVariable];
    if (value !== undefined) return checked(value, '--key-variable');
    throw new CommandFailure(
      `--key-variable: the environment variable ${JSON.stringify(keyVariable)} is not set`,
    );
  }
  if (previous === undefined) {
    return checked(((await asker?.hidden(KEY_QUESTION, keyProblem)) ?? '').trim(), 'the key');
  }
  const answer = (await asker?.hidden(OTHER_KEY_QUESTION, unlessEmpty(keyProblem))) ?? '';
  return isEmpty(answer) ? previous.key : checked(answer.trim(), 'the key');
}

/** An empty answer keeps the previous one. */
function unlessEmpty(validate: Validate): Validate {
  return (answer) => (isEmpty(answer) ? undefined : validate(answer));
}

function isEmpty(answer: string): boolean {
  return answer.trim() === '';
}

async function keyIn(file: string, input: NodeJS.ReadableStream): Promise<string> {
  const isInput = file === '-';
  const read = isInput ? await readText(input, API_KEY_FILE) : await readTextFile(file, API_KEY_FILE);
  if (read.ok) return apiKeyOfFile(read.content);
  const source = isInput ? 'standard input' : JSON.stringify(file);
  throw new CommandFailure(`--key-file: ${source} ${unreadable(read)}`);
}

function checked(key: string, source: string): Secret {
  // Registered as a secret before anything is said about it.
  const secret = new Secret(key);
  const problem = keyProblem(key);
  if (problem !== undefined) throw new CommandFailure(`${source}: ${problem}`);
  return secret;
}

/** What is wrong with a key; undefined if nothing is. */
function keyProblem(text: string): string | undefined {
  return apiKeyProblem(text.trim());
}

/** Asks in the terminal, on standard error; the signal cancels a question. */
export async function terminalAsker(signal: AbortSignal): Promise<Asker> {
  // Loaded only if a question is asked.
  const { confirm, password, text } = await import('@clack/prompts');
  // In a terminal that doesn't report its size, the library would write one character per line, or nothing.
  const { stderr } = process;
  if (!(stderr.columns > 0)) stderr.columns = USUAL_COLUMNS;
  if (!(stderr.rows > 0)) stderr.rows = USUAL_ROWS;
  const common = { output: stderr, signal, withGuide: false };
  /** Returns the answer; throws if the question was canceled. */
  function answered<T>(answer: T): Exclude<T, symbol> {
    if (typeof answer === 'symbol') throw new CommandFailure(STOPPED);
    return answer as Exclude<T, symbol>;
  }
  const checking = (validate: Validate) => ({
    validate: (answer: string | undefined) => validate(answer ?? ''),
  });
  return {
    text: async (message, example, validate) =>
      answered(await text({ ...common, ...checking(validate), message, placeholder: example })),
    hidden: async (message, validate) =>
      answered(await password({ ...common, ...checking(validate), message, mask: '' })),
    confirms: async (message) => answered(await confirm({ ...common, message, initialValue: false })),
  };
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export const STOPPED = 'canceled: nothing was written';
