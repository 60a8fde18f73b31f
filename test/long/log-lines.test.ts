import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type JsonLine, LogStage, MAX_LINES, SERVERS } from '../support/log-stage.ts';
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

/** How many events of these kinds the JSON lines report, in full or counted. */
const reported = (lines: readonly JsonLine[], events: readonly string[]) =>
  lines
    .filter(({ event }) => event !== undefined && events.includes(event))
    .reduce((sum, line) => sum + (line.events ?? 1), 0);

/** How many servers the pretty lines report as monitored. */
const observed = (lines: readonly string[]) =>
  lines
    .flatMap((line) => [...line.matchAll(/server \S+ is streaming|(\d+) more sockets? open/g)])
    .reduce((sum, [, count = '1']) => sum + Number(count), 0);

describe('the log of 150 servers', () => {
  it(`has at most ${MAX_LINES} lines at a start, which report every server`, async () => {
    // Three are suspended.
    await Promise.all([
      json.until(() => reported(parsed(), ['streaming', 'blocked']) === SERVERS + 3),
      pretty.until(() => observed(pretty.lines) >= SERVERS),
    ]);
    for (const { lines } of [json, pretty])
      expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(MAX_LINES);
  });

  it(`has at most ${MAX_LINES} lines when every socket closes and reopens, which report every event`, async () => {
    const before = [json.lines.length, pretty.lines.length];
    for (const { panel } of [json, pretty]) panel.sockets({ kind: 'drop' });
    await Promise.all([
      json.until(() => reported(parsed().slice(before[0]), ['closed', 'streaming_again']) === SERVERS * 2),
      pretty.until(() => observed(pretty.lines.slice(before[1])) >= SERVERS),
    ]);
    for (const lines of [json.lines.slice(before[0]), pretty.lines.slice(before[1])])
      expect(lines.length, lines.join('\n')).toBeLessThanOrEqual(MAX_LINES);
    expect(pretty.lines.join('\n')).toMatch(/145 more sockets closed \(.*\) on fra-\d, fra-\d; reconnecting/);
  });

  it('has level and time in each line of JSON, and the cause of the event', () => {
    for (const { level, time, event, panel, cause, msg } of parsed()) {
      expect(['info', 'warn']).toContain(level);
      expect(new Date(time).toISOString()).toBe(time);
      if (event !== undefined) expect(panel, msg).toBe('main');
      if (event === 'closed') expect(cause, msg).toBe('closed');
      if (event === 'blocked') expect(cause, msg).toBe('suspended');
    }
  });

  it('has one line for each event in pretty mode, with the cause', () => {
    for (const line of pretty.lines) expect(line).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] (?:INFO|WARN): \S/);
    expect(pretty.lines.join('\n')).toMatch(/server server-\d+: socket closed .* panel=main cause=closed$/m);
  });
});
