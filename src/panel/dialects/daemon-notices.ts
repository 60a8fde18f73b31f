// Recognizes the console lines with which a daemon explains the end of a run.

import type { DaemonNotice } from '../socket-codec.ts';

/**
 * The maximum length of a line that is read: no sentence below is longer, including its prefix and
 * colors.
 */
const MAX_LINE_LENGTH = 512;
/** The maximum exit code: Wings prints Docker's as an unsigned 32-bit number. */
const MAX_EXIT_CODE = 0xff_ff_ff_ff;

const ESCAPE = 0x1b;
const BRACKET = 0x5b;

const COLOR = String.raw`\u001b\[[\d;:]*m`;
/**
 * The name may contain anything except the end of the prefix, which no sentence contains either.
 */
const PREFIX = String.raw`^((?:${COLOR})*)\[([^\r\n]*) Daemon\]:((?:${COLOR})*) (?:${COLOR})*`;
const LINE = new RegExp(String.raw`${PREFIX}([^\u001b\r\n]*)(?:${COLOR}|[\r\n])*$`);

/** Sentences without a number. */
const FIXED: ReadonlyMap<string, DaemonNotice> = new Map<string, DaemonNotice>([
  // server/crash.go of pterodactyl/wings (since 1.0.0) and pelican/wings;
  // application/src/server/mod.rs of calagopus/wings.
  ['---------- Detected server process in a crashed state! ----------', { kind: 'crash detected' }],
  ['Out of memory: true', { kind: 'out of memory', killed: true }],
  ['Out of memory: false', { kind: 'out of memory', killed: false }],
  // pterodactyl/wings 1.0.0 to 1.1.2, where the interval was fixed.
  ['Aborting automatic reboot: last crash occurred less than 60 seconds ago.', { kind: 'restart aborted' }],
  // server/server.go (once state.go) of pterodactyl/wings (since 1.1.3) and pelican/wings: the
  // restart itself failed.
  ['Server crash was detected but an error occurred while handling it.', { kind: 'restart aborted' }],
  // pterodactyl/wings since 1.1.3, and pelican/wings.
  [
    'Aborting automatic restart, crash detection is disabled for this instance.',
    { kind: 'restart disabled' },
  ],
  // server/listeners.go of pterodactyl/wings (since 1.1.0) and pelican/wings;
  // application/src/server/mod.rs of calagopus/wings.
  ['Server is exceeding the assigned disk space limit, stopping process now.', { kind: 'disk full' }],
]);

const EXIT_CODE = /^Exit code: (0|[1-9]\d{0,9})$/;
// pterodactyl/wings since 1.1.3, pelican/wings, calagopus/wings: the interval is
// `crash_detection.timeout`, 60 by default.
const RESTART_ABORTED =
  /^Aborting automatic restart, last crash occurred less than [1-9]\d{0,9} seconds ago\.$/;

/**
 * The daemon's notice about the end of a run: a console line with exactly one of its sentences,
 * after `[<app_name> Daemon]:`. Daemons use different colors: server/console.go of Wings,
 * `log_daemon_with_prelude` of calagopus/wings.
 */
export function readDaemonNotice(line: string): DaemonNotice | undefined {
  // This check rejects most lines of a game.
  const first = line.charCodeAt(0);
  if ((first !== ESCAPE && first !== BRACKET) || line.length > MAX_LINE_LENGTH) return undefined;
  const [, before = '', name = '', behind = '', sentence = ''] = LINE.exec(line) ?? [];
  const isColored = before !== '' && behind !== '';
  // A node's `app_name` may have brackets, as in `[[EU] Games Daemon]:`. In `[INFO]: <Eve> [Games
  // Daemon]:`, the prefix is a player's text, but players can't type the daemon's colors.
  return isColored || hasPairedBrackets(name) ? readSentence(sentence) : undefined;
}

function hasPairedBrackets(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    if (char === '[') depth += 1;
    if (char === ']') depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

function readSentence(sentence: string): DaemonNotice | undefined {
  const fixed = FIXED.get(sentence);
  if (fixed !== undefined) return fixed;
  if (RESTART_ABORTED.test(sentence)) return { kind: 'restart aborted' };
  const code = EXIT_CODE.exec(sentence)?.[1];
  return code === undefined || Number(code) > MAX_EXIT_CODE
    ? undefined
    : { kind: 'exit code', code: Number(code) };
}
