// The number of log lines during outages of many servers.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { type JsonLine, LogStage, SERVERS } from '../support/log-stage.ts';
import { endPrograms } from '../support/program.ts';

const SPEED = 8;

/**
 * The limit for an outage: five lines and a count for each of a few kinds of events, and a few
 * lines about the panel.
 */
const MAX_LINES = 60;

/** The time after which no more lines are pending, in milliseconds of the accelerated clock. */
const LINES_SETTLE_MS = 130_000;

/**
 * The limit for a start: five lines and a count for opened sockets, and the same for suspended
 * servers.
 */
const MAX_START_LINES = 12;

let stage: LogStage;

beforeAll(async () => {
  stage = await LogStage.start(SPEED);
  await stage.opened(SERVERS);
  await stage.pass(LINES_SETTLE_MS);
});

afterAll(async () => {
  await endPrograms();
  await stage.panel.stop();
});

it(`150 servers log at most ${MAX_START_LINES} lines at a start`, () => {
  expect(stage.lines.length, stage.lines.join('\n')).toBeLessThanOrEqual(MAX_START_LINES);
});

const OUTAGES: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
  [
    'after a restart of the nodes',
    async () => {
      stage.setNodesDown(true);
      await stage.pass(20_000);
      stage.setNodesDown(false);
    },
    /\d+ more sockets closed .* on fra-\d, fra-\d; reconnecting/,
  ],
  [
    'after the nodes were down for minutes',
    async () => {
      stage.setNodesDown(true);
      await stage.pass(120_000);
      stage.setNodesDown(false);
    },
    /\d+ more sockets closed .* on fra-\d, fra-\d; reconnecting/,
  ],
  [
    'after a restart of the panel and its nodes',
    async () => {
      await stage.panel.stopListening();
      // The panel is down after two failed rounds of canaries.
      await stage.pass(60_000);
      await stage.panel.startListening();
    },
    /panel main \(\S+\) is available again/,
  ],
  [
    'after the key was rejected for longer than a token lives, and accepted again',
    async () => {
      stage.panel.revokeKey(stage.panel.apiKey);
      await stage.opened(0);
      stage.panel.acceptKey(stage.panel.apiKey);
    },
    /145 more sockets open again /,
  ],
];

it.each(OUTAGES)(`150 servers log at most ${MAX_LINES} lines %s`, async (_what, runOutage, expected) => {
  const before = stage.lines.length;
  await runOutage();
  await stage.opened(SERVERS);
  await stage.pass(LINES_SETTLE_MS);
  const lines = stage.lines.slice(before);
  expect(lines.join('\n')).toMatch(expected);
  expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(MAX_LINES);
});

it('every problem has a panel, and a cause from the table', () => {
  const trouble = stage.lines
    .map((line) => JSON.parse(line) as JsonLine)
    .filter(({ level }) => level !== 'info');
  expect(new Set(trouble.map(({ level }) => level))).toEqual(new Set(['warn', 'error']));
  for (const { panel, cause, msg } of trouble) {
    expect(panel, msg).toBe('main');
    expect(CAUSES, msg).toHaveProperty(String(cause));
  }
});
