import { describe, expect, it } from 'vitest';
import { readDaemonWords } from '../../../src/panel/dialects/daemon-words.ts';
import { crashReport, DISK_FULL, daemonLine } from '../../../src/simulator/daemon.ts';
import type { ExitState } from '../../../src/simulator/schema.ts';

const NODE = {
  daemon: 'pterodactyl',
  appName: '',
  crashDetection: true,
  crashTimeoutSeconds: 60,
} as const;
const DETECTED = '---------- Detected server process in a crashed state! ----------';
const ABORTED = 'Aborting automatic restart, last crash occurred less than 60 seconds ago.';
const DISABLED = 'Aborting automatic restart, crash detection is disabled for this instance.';

describe('messages of a daemon after a stop, and whether it restarts the server', () => {
  const cases: readonly (readonly [
    string,
    ExitState,
    number | undefined,
    Partial<Parameters<typeof crashReport>[2]>,
    readonly string[],
    boolean,
  ])[] = [
    ['a crash', { code: 1 }, undefined, {}, [DETECTED, 'Exit code: 1', 'Out of memory: false'], true],
    [
      'out of memory',
      { code: 137, outOfMemory: true },
      undefined,
      {},
      [DETECTED, 'Exit code: 137', 'Out of memory: true'],
      true,
    ],
    ['an in-game stop', { code: 0 }, undefined, {}, [DETECTED, 'Exit code: 0', 'Out of memory: false'], true],
    [
      'a second crash too soon',
      { code: 1 },
      59_999,
      {},
      [DETECTED, 'Exit code: 1', 'Out of memory: false', ABORTED],
      false,
    ],
    [
      'a second crash later',
      { code: 1 },
      60_000,
      {},
      [DETECTED, 'Exit code: 1', 'Out of memory: false'],
      true,
    ],
    [
      'another interval',
      { code: 1 },
      59_999,
      { crashTimeoutSeconds: 30 },
      [DETECTED, 'Exit code: 1', 'Out of memory: false'],
      true,
    ],
    [
      'no interval',
      { code: 1 },
      0,
      { crashTimeoutSeconds: 0 },
      [DETECTED, 'Exit code: 1', 'Out of memory: false'],
      true,
    ],
    ['crash detection disabled', { code: 1 }, undefined, { crashDetection: false }, [DISABLED], false],
    [
      'crash detection disabled on calagopus',
      { code: 1 },
      undefined,
      { crashDetection: false, daemon: 'calagopus' },
      [],
      false,
    ],
  ];
  it.each(cases)('%s', (_, exit, sinceRestartMs, node, texts, restarts) => {
    const report = crashReport(exit, sinceRestartMs, { ...NODE, ...node });
    expect(report.sentences.map(({ text }) => text)).toEqual(texts);
    expect(report.restarts).toBe(restarts);
  });
});

describe('a line from the daemon', () => {
  it.each([
    ['pterodactyl', '', '\u001b[33m\u001b[1m[Pterodactyl Daemon]:\u001b[39m Hello\u001b[0m'],
    ['pelican', '', '\u001b[33m\u001b[1m[pelican Daemon]:\u001b[39m Hello\u001b[0m'],
    ['pelican', 'My Host', '\u001b[33m\u001b[1m[My Host Daemon]:\u001b[39m Hello\u001b[0m'],
    ['calagopus', '', '\u001b[1;33m[Pterodactyl Daemon]:\u001b[0m \u001b[1mHello\u001b[0m'],
  ] as const)('of %s named "%s" has the right format', (daemon, appName, line) => {
    expect(daemonLine('Hello', { daemon, appName })).toBe(line);
  });

  it.each(['pterodactyl', 'pelican', 'calagopus'] as const)(
    'of %s is recognized by the exporter',
    (daemon) => {
      const node = { ...NODE, daemon, appName: 'My Host' };
      const sentences = [
        ...crashReport({ code: 137, outOfMemory: true }, 1, node).sentences,
        ...crashReport({ code: 1 }, 1, { ...NODE, crashDetection: false }).sentences,
        DISK_FULL,
      ];
      const kinds = sentences.map(({ kind }) => kind);
      expect(kinds).toEqual([
        'crash detected',
        'exit code',
        'out of memory',
        'restart aborted',
        'restart disabled',
        'disk full',
      ]);
      expect(sentences.map(({ text }) => readDaemonWords(daemonLine(text, node))?.kind)).toEqual(kinds);
    },
  );
});
