import { beforeEach, describe, expect, it } from 'vitest';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { unknownStateLog } from '../../../src/fleet/unknown-state-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
});

const visibleLines = () => log.lines.filter(({ level }) => level !== 'debug');
const messages = () => visibleLines().map(({ message }) => message);

describe('an unknown state', () => {
  const say = () => {
    const context = { clock, log, unknownState: unknownStateLog(log) };
    const record = (name: string) =>
      new ServerRecord(target({ name }), { socket: 60_000, poll: 60_000 }, context);
    return [record('one'), record('two')] as const;
  };
  const sample = (unknownState: string) =>
    sampleOf({ state: 'unknown', unknownState, memoryBytes: 7, uptimeMs: 1_000 });

  it('is logged once for a panel, and the data of the server is shown', () => {
    const [one, two] = say();
    for (let second = 1; second <= 3; second += 1)
      for (const record of [one, two]) record.socketSample(sample('paused'), second * 1_000);
    expect(messages()).toEqual([
      'server one: unknown state "paused", shown as unknown; its data is shown as usual',
    ]);
    expect(two.snapshot(3_000, clock)).toMatchObject({
      state: 'unknown',
      collection_up: 1,
      memory_usage_bytes: 7,
    });
  });

  it('is logged on one line, and a panel that invents states fills no log', () => {
    const [one] = say();
    for (let word = 1; word <= 100; word += 1) one.socketSample(sample(`${word}\n\u001b[31m`), word * 1_000);
    expect(messages()).toHaveLength(10);
    expect(messages()[0]).toContain('unknown state "1"');
  });
});
