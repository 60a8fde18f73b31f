import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonLine, LogStage, MOST_LINES, SERVERS } from '../support/log-stage.ts';
import { endPrograms } from '../support/program.ts';

let json: LogStage;
let pretty: LogStage;

beforeAll(async () => {
  [json, pretty] = await Promise.all([LogStage.start('json'), LogStage.start('pretty')]);
});

afterAll(async () => {
  await endPrograms();
  await Promise.all([json.panel.stop(), pretty.panel.stop()]);
});

const parsed = () => json.lines.map((line) => JSON.parse(line) as JsonLine);

/** How many events of these kinds the JSON lines tell of, in lines of their own or in sums. */
const told = (lines: readonly JsonLine[], events: readonly string[]) =>
  lines
    .filter(({ event }) => event !== undefined && events.includes(event))
    .reduce((sum, line) => sum + (line.events ?? 1), 0);

/** How many servers the pretty lines tell of as observed: one that was the first to be open again may be in the sum of the closed ones, too. */
const observed = (lines: readonly string[]) =>
  lines
    .flatMap((line) => [
      ...line.matchAll(/server \S+ is streaming|(\d+) sockets? (?:closed \([^)]*\); )?open(?: again)?:/g),
    ])
    .reduce((sum, [, count = '1']) => sum + Number(count), 0);

describe('the log of 150 servers', () => {
  it('has five lines of a start at most, which tell of every server', async () => {
    // Three are suspended.
    await Promise.all([
      json.until(() => told(parsed(), ['streaming', 'blocked']) === SERVERS + 3),
      pretty.until(() => observed(pretty.lines) >= SERVERS),
    ]);
    for (const { lines } of [json, pretty])
      expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(MOST_LINES);
  });

  it('has five lines at most where every socket closes and opens again, which tell of every event', async () => {
    const before = [json.lines.length, pretty.lines.length];
    for (const { panel } of [json, pretty]) panel.sockets({ kind: 'drop' });
    await Promise.all([
      json.until(() => told(parsed().slice(before[0]), ['closed', 'streaming_again']) === SERVERS * 2),
      pretty.until(() => observed(pretty.lines.slice(before[1])) >= SERVERS),
    ]);
    for (const lines of [json.lines.slice(before[0]), pretty.lines.slice(before[1])])
      expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(MOST_LINES);
    expect(pretty.lines.join('\n')).toMatch(/sockets closed \(2 nodes: fra-\d, fra-\d\)/);
  });

  it('names the level and the time in each line of JSON, and the cause of what happened', () => {
    for (const { level, time, event, panel, cause, msg } of parsed()) {
      expect(['info', 'warn']).toContain(level);
      expect(new Date(time).toISOString()).toBe(time);
      if (event !== undefined) expect(panel, msg).toBe('main');
      if (event === 'closed') expect(cause, msg).toBe('closed');
      if (event === 'blocked') expect(cause, msg).toBe('suspended');
    }
  });

  it('is one line for each event where it is pretty, with the cause', () => {
    for (const line of pretty.lines) expect(line).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] (?:INFO|WARN): \S/);
    expect(pretty.lines.join('\n')).toMatch(
      /server server-\d+ lost its socket: .* panel=main cause=closed$/m,
    );
  });
});
