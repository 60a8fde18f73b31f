import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDaemonNotice } from '../../../../src/panel/dialects/daemon-notices.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

const ESC = '\u001b';
const CRASHED = '---------- Detected server process in a crashed state! ----------';
const ABORTED = 'Aborting automatic restart, last crash occurred less than 60 seconds ago.';
const DISABLED = 'Aborting automatic restart, crash detection is disabled for this instance.';
const DISK_FULL = 'Server is exceeding the assigned disk space limit, stopping process now.';

type Wording = (sentence: string, appName?: string) => string;

/** A message with the colors of `[yellow][bold][%s Daemon]:[default] %s` in server/console.go. */
const wings: Wording = (sentence, appName = 'Pterodactyl') =>
  `${ESC}[33m${ESC}[1m[${appName} Daemon]:${ESC}[39m ${sentence}${ESC}[0m`;
const calagopus: Wording = (sentence, appName = 'Pterodactyl') =>
  `${ESC}[1;33m[${appName} Daemon]:${ESC}[0m ${ESC}[1m${sentence}${ESC}[0m`;
const plain: Wording = (sentence, appName = 'Pterodactyl') => `[${appName} Daemon]: ${sentence}`;

const SENTENCES = [
  [CRASHED, { kind: 'crash detected' }],
  ['Exit code: 0', { kind: 'exit code', code: 0 }],
  ['Exit code: 1', { kind: 'exit code', code: 1 }],
  ['Exit code: 137', { kind: 'exit code', code: 137 }],
  ['Exit code: 4294967295', { kind: 'exit code', code: 4_294_967_295 }],
  ['Out of memory: true', { kind: 'out of memory', killed: true }],
  ['Out of memory: false', { kind: 'out of memory', killed: false }],
  [ABORTED, { kind: 'restart aborted' }],
  ['Aborting automatic restart, last crash occurred less than 5 seconds ago.', { kind: 'restart aborted' }],
  ['Aborting automatic reboot: last crash occurred less than 60 seconds ago.', { kind: 'restart aborted' }],
  ['Server crash was detected but an error occurred while handling it.', { kind: 'restart aborted' }],
  [DISABLED, { kind: 'restart disabled' }],
  [DISK_FULL, { kind: 'disk full' }],
] as const;

describe.each([
  ['Wings', wings],
  ['calagopus', calagopus],
  ['a daemon without colors', plain],
])('the messages of %s', (_, wording) => {
  it.each(SENTENCES)('%s', (sentence, words) => {
    expect(readDaemonNotice(wording(sentence))).toEqual(words);
  });

  it.each([
    'pelican',
    'Pterodactyl',
    'My Host – EU 1',
    'Daemon',
    '[EU] Games',
    'ゲーム',
    'x'.repeat(300),
    '[x Daemon]: Exit code: 1',
    '',
  ])('are recognized if the daemon is named "%s"', (appName) => {
    expect(readDaemonNotice(wording(CRASHED, appName))).toEqual({ kind: 'crash detected' });
  });

  it.each(['\r', '\n', '\r\n', `${ESC}[0m\r\n`, `\r${ESC}[0m${ESC}[m`])('may end with %j', (end) => {
    expect(readDaemonNotice(`${wording('Exit code: 1')}${end}`)).toEqual({ kind: 'exit code', code: 1 });
  });
});

describe('a line that is not from the daemon', () => {
  it.each([
    ['an empty line', ''],
    ['a message without the prefix', CRASHED],
    ['a player who types a message', `[12:00:00] [Server thread/INFO]: <Eve> ${plain(CRASHED)}`],
    ['a prefix later in the line', `x${plain(CRASHED)}`],
    [
      'a player who types a message into a colored line',
      `${ESC}[33m[12:00] <Eve> ${plain(CRASHED)}${ESC}[0m`,
    ],
    ['a name with brackets that are no pairs, without colors', plain(CRASHED, 'a] [b')],
    ['a name with a line break', wings(CRASHED, 'a\nb')],
    ['a different word than Daemon', '[Pterodactyl daemon]: Exit code: 1'],
    ['no colon', '[Pterodactyl Daemon] Exit code: 1'],
    ['no opening bracket', `${ESC}[1mPterodactyl Daemon]: Exit code: 1`],
    ['only the prefix and a space', '[Pterodactyl Daemon]: '],
    ['an escape sequence that is not a color', `${ESC}[2J${plain('Exit code: 1')}`],
    ['only an escape', ESC],
    ['another message of the daemon', wings('Updating process configuration files...')],
    ['different case', wings('exit code: 1')],
    ['text after the message', wings('Exit code: 1 or so')],
    ['text after the colors', `${wings('Exit code: 1')}x`],
    ['a second line', `${wings('Exit code: 1')}\n${wings('Exit code: 2')}`],
    ['a color inside the message', wings(`Exit ${ESC}[1mcode: 1`)],
    ['a line break inside the message', wings('Exit code:\n1')],
    ['a negative exit code', wings('Exit code: -1')],
    ['a fraction', wings('Exit code: 1.5')],
    ['a leading zero', wings('Exit code: 01')],
    ['digits of another script', wings('Exit code: ١')],
    ['an exit code of more than 32 bits', wings('Exit code: 4294967296')],
    ['not a boolean', wings('Out of memory: maybe')],
    ['an interval that is not a number', wings(ABORTED.replace('60', 'sixty'))],
    ['the name of an Object property', wings('constructor')],
  ])('%s', (_, line) => {
    expect(readDaemonNotice(line)).toBeUndefined();
  });

  it('is longer than any message', () => {
    const reset = `${ESC}[0m`;
    const room = 512 - wings(CRASHED).length;
    const filled = `${wings(CRASHED)}${reset.repeat(Math.floor(room / reset.length))}`;
    expect(readDaemonNotice(filled.padEnd(512, '\r'))).toEqual({ kind: 'crash detected' });
    expect(readDaemonNotice(filled.padEnd(513, '\r'))).toBeUndefined();
  });
});

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc
    .array(
      fc.constantFrom(
        ESC,
        '[',
        ']',
        ']:',
        ' ',
        ' Daemon]:',
        `${ESC}[1m`,
        ';',
        '\r',
        '\n',
        'Exit code: ',
        '137',
        CRASHED,
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join('')),
);

describe('reading any output of a game', () => {
  it('never throws, and finds a message only with the prefix', () => {
    fc.assert(
      fc.property(hostile, (line) => {
        if (readDaemonNotice(line) === undefined) return;
        // eslint-disable-next-line no-control-regex -- colors may precede the prefix
        expect(line).toMatch(/^(?:\u001b\[[\d;:]*m)*\[[^\r\n]* Daemon\]:/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds every exit code of 32 bits after any name', () => {
    const appName = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.string({ unit: fc.constantFrom('[', ']', ':', ' ', 'Daemon', 'EU'), maxLength: 20 }),
    );
    fc.assert(
      fc.property(appName, fc.nat({ max: 0xff_ff_ff_ff }), (name, code) => {
        expect(readDaemonNotice(wings(`Exit code: ${code}`, name))).toEqual({ kind: 'exit code', code });
      }),
    );
  });

  it.each([
    ['text', 'x'.repeat(8_000_000)],
    ['brackets', '['.repeat(8_000_000)],
    ['escape sequences', `${ESC}[1m`.repeat(2_000_000)],
    ['prefixes', plain('').repeat(300_000)],
  ])('rejects megabytes (%s) as fast as a short line', (_, line) => {
    const before = cpuMs();
    for (let call = 0; call < 1_000; call += 1) expect(readDaemonNotice(line)).toBeUndefined();
    // It would take seconds to read the line on every call.
    expect(cpuMs() - before).toBeLessThan(1_000);
  });
});
