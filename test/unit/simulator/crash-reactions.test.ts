import { describe, expect, it } from 'vitest';
import { crashReport, daemonLine, killsSilently } from '../../../src/simulator/crash-reactions.ts';

const CRASHED = '---------- Detected server process in a crashed state! ----------';

describe('a line of the daemon', () => {
  it.each([
    ['pterodactyl', '', '\u001b[33m\u001b[1m[Pterodactyl Daemon]:\u001b[39m text\u001b[0m'],
    ['pelican', '', '\u001b[33m\u001b[1m[pelican Daemon]:\u001b[39m text\u001b[0m'],
    ['pelican', 'Acme', '\u001b[33m\u001b[1m[Acme Daemon]:\u001b[39m text\u001b[0m'],
    ['calagopus', '', '\u001b[1;33m[Pterodactyl Daemon]:\u001b[0m \u001b[1mtext\u001b[0m'],
  ] as const)('of %s with the name %j', (daemon, appName, line) => {
    expect(daemonLine('text', { daemon, appName })).toBe(line);
  });
});

describe('a crash', () => {
  const wings = { daemon: 'pterodactyl', crashDetection: true } as const;
  const report = [CRASHED, 'Exit code: 1', 'Out of memory: false'];

  it.each<[string, number | undefined, Parameters<typeof crashReport>[2], boolean, readonly string[]]>([
    ['is reported, and the server restarts', undefined, wings, true, report],
    ['a minute after the last one, too', 60_000, wings, true, report],
    [
      'within a minute of the last one is the last',
      59_999,
      wings,
      false,
      [...report, 'Aborting automatic restart, last crash occurred less than 60 seconds ago.'],
    ],
    [
      'without crash detection is named as such',
      undefined,
      { ...wings, crashDetection: false },
      false,
      ['Aborting automatic restart, crash detection is disabled for this instance.'],
    ],
    [
      "without crash detection isn't named by Calagopus' daemon",
      undefined,
      { daemon: 'calagopus', crashDetection: false },
      false,
      [],
    ],
  ])('%s', (_what, sinceRestartMs, node, restarts, sentences) => {
    expect(crashReport({ code: 1 }, sinceRestartMs, node)).toEqual({ restarts, sentences });
  });

  it('may be the end of the memory', () => {
    expect(crashReport({ code: 137, outOfMemory: true }, undefined, wings).sentences.slice(1)).toEqual([
      'Exit code: 137',
      'Out of memory: true',
    ]);
  });
});

it('only Calagopus kills silently', () => {
  const daemons = ['pterodactyl', 'pelican', 'calagopus'] as const;
  expect(daemons.filter((daemon) => killsSilently({ daemon }))).toEqual(['calagopus']);
});
