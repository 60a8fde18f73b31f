import type { DaemonWords } from '../dialect.ts';

/** No sentence below is longer than this, including its prefix and colors, so longer lines are not read at all. */
const MAX_LINE_LENGTH = 256;
const MAX_APP_NAME_LENGTH = 64;
const PREFIX_END = ' Daemon';
/** Docker's exit code, which Wings prints as an unsigned 32-bit number. */
const MAX_EXIT_CODE = 0xff_ff_ff_ff;

const ESCAPE = 0x1b;
const BRACKET = 0x5b;

// Sticky patterns that always match and never backtrack.
// eslint-disable-next-line no-control-regex -- escape sequences are what is looked for
const COLORS = /(?:\u001b\[[\d;:]*m)*/y;
// eslint-disable-next-line no-control-regex -- escape sequences are what is looked for
const LINE_END = /(?:\u001b\[[\d;:]*m|[\r\n])*/y;
// eslint-disable-next-line no-control-regex -- escape sequences are what is looked for
const SENTENCE = /[^\u001b\r\n]*/y;

/** Sentences without a number. */
const FIXED: ReadonlyMap<string, DaemonWords> = new Map<string, DaemonWords>([
  // server/crash.go of pterodactyl/wings (since 1.0.0) and pelican-dev/wings; application/src/server/mod.rs of calagopus/wings.
  ['---------- Detected server process in a crashed state! ----------', { kind: 'crash detected' }],
  ['Out of memory: true', { kind: 'out of memory', killed: true }],
  ['Out of memory: false', { kind: 'out of memory', killed: false }],
  // pterodactyl/wings 1.0.0 to 1.1.2, which had no other interval.
  ['Aborting automatic reboot: last crash occurred less than 60 seconds ago.', { kind: 'restart aborted' }],
  // server/server.go (once state.go) of pterodactyl/wings (since 1.1.3) and pelican-dev/wings: the restart itself failed.
  ['Server crash was detected but an error occurred while handling it.', { kind: 'restart aborted' }],
  // pterodactyl/wings since 1.1.3, and pelican-dev/wings.
  [
    'Aborting automatic restart, crash detection is disabled for this instance.',
    { kind: 'restart disabled' },
  ],
  // server/listeners.go of pterodactyl/wings (since 1.1.0) and pelican-dev/wings; application/src/server/mod.rs of calagopus/wings.
  ['Server is exceeding the assigned disk space limit, stopping process now.', { kind: 'disk full' }],
]);

const EXIT_CODE = /^Exit code: (0|[1-9]\d{0,9})$/;
// pterodactyl/wings since 1.1.3, pelican-dev/wings, calagopus/wings: the interval is `crash_detection.timeout`, 60 by default.
const RESTART_ABORTED =
  /^Aborting automatic restart, last crash occurred less than [1-9]\d{0,9} seconds ago\.$/;

/**
 * What a console line says about the end of a run, if the daemon printed it: exactly one of its sentences, after `[<app_name>
 * Daemon]:`. The colors differ between daemons: server/console.go of Wings, `log_daemon_with_prelude` of calagopus/wings.
 */
export function readDaemonWords(line: string): DaemonWords | undefined {
  // Most lines of a game are rejected here.
  const first = line.charCodeAt(0);
  if ((first !== ESCAPE && first !== BRACKET) || line.length > MAX_LINE_LENGTH) return undefined;
  const open = endOf(COLORS, line, 0);
  const close = line.indexOf(']:', open);
  if (close === -1 || !isPrefix(line.slice(open, close))) return undefined;
  const space = endOf(COLORS, line, close + 2);
  if (line[space] !== ' ') return undefined;
  const start = endOf(COLORS, line, space + 1);
  const end = endOf(SENTENCE, line, start);
  return endOf(LINE_END, line, end) === line.length ? readSentence(line.slice(start, end)) : undefined;
}

/** Is this the daemon's name, without the closing bracket? The node's configuration determines what precedes `Daemon`. */
function isPrefix(text: string): boolean {
  const appNameLength = text.length - 1 - PREFIX_END.length;
  return (
    text.startsWith('[') &&
    text.endsWith(PREFIX_END) &&
    appNameLength <= MAX_APP_NAME_LENGTH &&
    !text.includes(']')
  );
}

function readSentence(sentence: string): DaemonWords | undefined {
  const fixed = FIXED.get(sentence);
  if (fixed !== undefined) return fixed;
  if (RESTART_ABORTED.test(sentence)) return { kind: 'restart aborted' };
  const code = EXIT_CODE.exec(sentence)?.[1];
  return code === undefined || Number(code) > MAX_EXIT_CODE
    ? undefined
    : { kind: 'exit code', code: Number(code) };
}

/** Where the match of a sticky pattern that always matches ends. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
}
