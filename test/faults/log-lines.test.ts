import { afterAll, beforeAll, expect, it } from 'vitest';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { type JsonLine, LogStage, MOST_LINES, SERVERS } from '../support/log-stage.ts';
import { endPrograms } from '../support/program.ts';

const SPEED = 8;

/** Milliseconds, on the run's fast clock, after which nothing is held back once all is quiet. */
const TOLD_MS = 130_000;

let stage: LogStage;

beforeAll(async () => {
  stage = await LogStage.start('json', SPEED);
  await stage.opened(SERVERS);
  await stage.pass(TOLD_MS);
}, 120_000);

afterAll(async () => {
  await endPrograms();
  await stage.panel.stop();
});

const OUTAGES: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
  [
    'the nodes are restarted',
    async () => {
      stage.setNodesDown(true);
      await stage.pass(20_000);
      stage.setNodesDown(false);
    },
    /\d+ sockets closed \(.*2 nodes: /,
  ],
  [
    'the nodes are gone for minutes',
    async () => {
      stage.setNodesDown(true);
      await stage.pass(120_000);
      stage.setNodesDown(false);
    },
    /\d+ sockets closed \(.*2 nodes: /,
  ],
  [
    'the panel is restarted, and the nodes with it',
    async () => {
      await stage.panel.stopListening();
      await stage.pass(30_000);
      await stage.panel.startListening();
    },
    /panel main \(\S+\) works again/,
  ],
  [
    'the key is refused for longer than a token lives, and accepted again',
    async () => {
      stage.panel.revokeKey(stage.panel.apiKey);
      await stage.opened(0);
      stage.panel.acceptKey(stage.panel.apiKey);
    },
    /150 sockets open again: /,
  ],
];

it.each(OUTAGES)(
  '150 servers write five lines at most where %s',
  { timeout: 200_000 },
  async (_what, strike, expected) => {
    const before = stage.lines.length;
    await strike();
    await stage.opened(SERVERS);
    await stage.pass(TOLD_MS);
    const lines = stage.lines.slice(before);
    expect(lines.join('\n')).toMatch(expected);
    expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(MOST_LINES);
  },
);

it('all trouble has a panel, and a cause of the table', () => {
  const trouble = stage.lines
    .map((line) => JSON.parse(line) as JsonLine)
    .filter(({ level }) => level !== 'info');
  expect(new Set(trouble.map(({ level }) => level))).toEqual(new Set(['warn', 'error']));
  for (const { panel, cause, msg } of trouble) {
    expect(panel, msg).toBe('main');
    expect(CAUSES, msg).toHaveProperty(String(cause));
  }
});
