// The panel address and the API key for `init`, from flags or from questions.

import { isPrivateHost } from '../addresses/ranges.ts';
import { isClearText, panelUrlProblem } from '../config/panel-url.ts';
import { CAUSES } from '../diagnosis/causes.ts';
import type { CauseCode } from '../domain/problems.ts';
import { apiKeyIn, apiKeyProblem, isApiKey } from '../text/api-keys.ts';
import { Secret } from '../text/redaction.ts';
import { API_KEY_FILE, readText, readTextFile } from '../yaml/text-file.ts';
import type { Environment } from '../yaml/variables.ts';
import { type Asker, CANCELED } from './asker.ts';
import { CommandFailure } from './command-failure.ts';

/** The flags that replace the questions of `init`. */
export interface AnswerFlags {
  readonly url?: string;
  readonly keyFile?: string;
  readonly keyVariable?: string;
  readonly allowInsecure?: boolean;
}

/** The input of `init`: the panel's base address and an API key. */
export interface Answers {
  readonly url: string;
  readonly key: Secret;
}

/** Sources of answers in addition to the flags. */
export interface AnswerSources {
  readonly env: Environment;
  /** Standard input, for `--key-file -`. */
  readonly input: NodeJS.ReadableStream;
  /** Undefined without a terminal. */
  readonly asker: Asker | undefined;
  /** Shows a text to the person who answers. */
  readonly explain: (text: string) => void;
}

/** The flags that are required without a terminal and missing; undefined if none are. */
export function missingFlags(flags: AnswerFlags): string | undefined {
  const missing = [
    ...(flags.url === undefined ? ['--url <url>'] : []),
    ...(asksForKey(flags) ? ['--key-file <file> (or --key-variable <name>)'] : []),
  ];
  if (missing.length === 0) return undefined;
  return `missing ${missing.join(' and ')}: required without a terminal`;
}

/** Whether no flag gives the key. */
function asksForKey({ keyFile, keyVariable }: AnswerFlags): boolean {
  return keyFile === undefined && keyVariable === undefined;
}

/**
 * The panel's address, from the flag or by asking. An empty answer keeps the previous address.
 * Throws a CommandFailure if the flag is invalid.
 */
export async function readUrl(
  { url: flag, allowInsecure = false }: AnswerFlags,
  asker: Asker | undefined,
  previous?: string,
): Promise<string> {
  const mayAsk = asker !== undefined;
  const question = {
    text: previous === undefined ? 'URL of the panel, as you open it in a browser' : OTHER_URL,
    example: previous ?? 'https://panel.example.com',
    validate: (answer: string) =>
      answer.trim() === '' && previous !== undefined ? undefined : urlProblem(answer, allowInsecure, mayAsk),
  };
  for (;;) {
    const text = flag ?? (await asker?.text(question)) ?? '';
    if (text.trim() === '' && previous !== undefined) return previous;
    const problem = urlProblem(text, allowInsecure, mayAsk);
    if (problem !== undefined) throw new CommandFailure(`--url: ${problem}`);
    const url = withScheme(text);
    if (allowInsecure || !isClearText(url) || (await asker?.confirms(CLEAR_TEXT)) === true) return url;
    if (flag !== undefined) throw new CommandFailure(CANCELED);
  }
}

const OTHER_URL = 'URL of the panel (leave empty to keep the previous one)';
const CLEAR_TEXT = 'http sends the API key through the network in clear text. Use it anyway?';

/** An address without a scheme defaults to https, as in a browser. */
function withScheme(text: string): string {
  const address = text.trim();
  return address.includes('://') ? address : `https://${address}`;
}

/** What is wrong with an address. A person may confirm the use of http. */
function urlProblem(text: string, allowInsecure: boolean, mayAsk: boolean): string | undefined {
  // Otherwise, the exporter would look the key up as a host name, so a DNS server would see it.
  if (isApiKey(text.trim())) return 'expected the URL of the panel, but this is an API key';
  const url = withScheme(text);
  const problem = panelUrlProblem(url);
  if (problem !== undefined || allowInsecure || !isClearText(url)) return problem;
  return mayAsk && isPrivateHost(new URL(url).hostname)
    ? undefined
    : 'expected https, because http sends the API key in clear text (--allow-insecure permits it)';
}

/**
 * The API key, from a flag or by asking. An empty answer keeps the previous key. Throws a
 * CommandFailure if the flag is invalid.
 */
export async function readKey(
  { keyFile, keyVariable }: AnswerFlags,
  { env, input, asker }: AnswerSources,
  previous?: Secret,
): Promise<Secret> {
  if (keyFile !== undefined) return checked(await keyIn(keyFile, input), '--key-file');
  if (keyVariable !== undefined) {
    const value = env[keyVariable];
    if (value !== undefined) return checked(value, '--key-variable');
    throw new CommandFailure(
      `--key-variable: the environment variable ${JSON.stringify(keyVariable)} is not set`,
    );
  }
  const where = previous === undefined ? ' (in the panel: account → API credentials)' : '';
  const answer = await asker?.hidden({
    text: `Client API key${where}, not echoed${previous === undefined ? '' : ' (leave empty to keep the previous one)'}`,
    example: '',
    validate: (text) =>
      text.trim() === '' && previous !== undefined ? undefined : apiKeyProblem(text.trim()),
  });
  const key = (answer ?? '').trim();
  return key === '' && previous !== undefined ? previous : checked(key, 'the key');
}

async function keyIn(file: string, input: NodeJS.ReadableStream): Promise<string> {
  const isInput = file === '-';
  const read = isInput ? await readText(input, API_KEY_FILE) : await readTextFile(file, API_KEY_FILE);
  if (read.ok) return read.content;
  const source = isInput ? 'standard input' : JSON.stringify(file);
  throw new CommandFailure(`--key-file: ${source} ${read.problem}`);
}

function checked(text: string, source: string): Secret {
  const key = apiKeyIn(text);
  // Registered as a secret first, so that messages can't show it.
  const secret = new Secret(key);
  const problem = apiKeyProblem(key);
  if (problem !== undefined) throw new CommandFailure(`${source}: ${problem}`);
  return secret;
}

/**
 * The answers for another attempt after one failed. Throws a CommandFailure if nobody can be asked.
 */
export async function otherAnswers(
  flags: AnswerFlags,
  sources: AnswerSources,
  { url, key }: Answers,
  cause: CauseCode,
): Promise<Answers> {
  const { asker, explain } = sources;
  const other = otherScheme(cause, url, flags);
  if (other !== undefined && (await asker?.confirms(`${other.reason} Use ${other.url} instead?`)))
    return { url: other.url, key };
  const isAsked = flags.url === undefined || asksForKey(flags);
  if (asker === undefined || !isAsked) throw new CommandFailure('nothing was written');
  explain(
    "Nothing was written. Correct your answers, or press Ctrl-C to cancel. For settings that init doesn't ask for, edit a copy of config.example.yaml.",
  );
  // If the key is the problem, the address is right, and only another key can help.
  const keepsUrl = CAUSES[cause].scope === 'key' && asksForKey(flags);
  return {
    url: keepsUrl ? url : await readUrl(flags, asker, url),
    key: await readKey(flags, sources, key),
  };
}

/**
 * The panel's address with the other scheme, if the error shows that the port requires it.
 * Undefined for other problems, and if http would need a flag.
 */
function otherScheme(cause: CauseCode, url: string, { allowInsecure = false }: AnswerFlags) {
  if (cause === 'https_needed')
    return { url: url.replace(/^http:/, 'https:'), reason: 'The panel requires https.' };
  if (cause !== 'tls_plain_port') return undefined;
  const other = url.replace(/^https:/, 'http:');
  if (urlProblem(other, allowInsecure, true) !== undefined) return undefined;
  const risk = isClearText(other) ? ', which sends the API key in clear text' : '';
  return { url: other, reason: `The port speaks http${risk}.` };
}
