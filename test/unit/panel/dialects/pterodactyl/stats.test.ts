import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Sample } from '../../../../../src/domain/sample.ts';
import { decodeFrame } from '../../../../../src/panel/dialects/pterodactyl/socket-messages.ts';
import { decodeStats, STATS_READER } from '../../../../../src/panel/dialects/pterodactyl/stats.ts';
import { statsText } from '../../../../support/hostile.ts';
import { type SampleValues, sampleOf, valuesOf } from '../../../../support/samples.ts';

const frameOf = (payload: string) => JSON.stringify({ event: 'stats', args: [payload] });

const [BEFORE, AFTER] = ['{"event":', '0}"]}\n'].map((text) => Buffer.from(text)) as [Buffer, Buffer];

/**
 * The sample in a frame in the middle of a buffer. `other` if the reader leaves the frame to the
 * JSON parser.
 */
function read(frame: string | Buffer): SampleValues | 'other' {
  const numbers = sampleOf({ state: 'stopping', cpuCores: 7, diskReadBytes: 7, uptimeMs: 7 });
  const bytes = Buffer.concat([BEFORE, Buffer.from(frame), AFTER]);
  const isRead = STATS_READER.read(bytes, numbers, BEFORE.length, bytes.length - AFTER.length);
  return isRead ? valuesOf(numbers) : 'other';
}

/** The JSON parser's result for a frame that the reader reads. */
function parsed(frame: Buffer): {
  readonly event: string;
  readonly sample: SampleValues;
  readonly bad: number;
} {
  const message = decodeFrame(frame);
  if ('bad' in message) throw new Error(`expected a message, got ${message.bad}`);
  const numbers = new Sample();
  const bad = decodeStats(JSON.parse(message.args[0] ?? ''), numbers);
  return { event: message.event, sample: valuesOf(numbers), bad };
}

const PTERODACTYL =
  '{"memory_bytes":1073741824,"memory_limit_bytes":4509715660,"cpu_absolute":153.217,' +
  '"network":{"rx_bytes":91234567,"tx_bytes":812345678},"uptime":86400123,"state":"running",' +
  '"disk_bytes":9123456789}';

const PELICAN =
  '{"memory_bytes":0,"memory_limit_bytes":0,"cpu_absolute":0,"network":{"rx_bytes":0,"tx_bytes":0},' +
  '"disk_io":{"read_bytes":5,"write_bytes":6},"uptime":0,"state":"offline","disk_bytes":123456789}';

/**
 * Stats in the form of `ResourceUsage` of calagopus/panel (api-clients/wings-api/src/lib.rs), at
 * release-1.1.4.
 */
const CALAGOPUS =
  '{"memory_bytes":1073741824,"memory_limit_bytes":4509715660,"disk_bytes":9123456789,"state":"running",' +
  '"network":{"rx_bytes":91234567,"rx_packets":1234,"tx_bytes":812345678,"tx_packets":5678},' +
  '"cpu_absolute":153.217,"cpu_limit_absolute":200,"uptime":86400123}';

/** The sample in Pterodactyl's and Calagopus' form. */
const RUNNING: SampleValues = {
  state: 'running',
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuCores: 1.53217,
  diskBytes: 9_123_456_789,
  networkReceiveBytes: 91_234_567,
  networkTransmitBytes: 812_345_678,
  uptimeMs: 86_400_123,
};

describe('a frame is read from its bytes', () => {
  it.each<[string, string, SampleValues]>([
    ["Pterodactyl's form", frameOf(PTERODACTYL), RUNNING],
    ["Calagopus' form", frameOf(CALAGOPUS), RUNNING],
    [
      "Pelican's form, of a server that never ran",
      frameOf(PELICAN),
      {
        state: 'offline',
        memoryBytes: 0,
        cpuCores: 0,
        diskBytes: 123_456_789,
        networkReceiveBytes: 0,
        networkTransmitBytes: 0,
        diskReadBytes: 5,
        diskWrittenBytes: 6,
        uptimeMs: 0,
      },
    ],
    ['a trailing newline', `${frameOf('{"disk_bytes":5}')}\n`, { diskBytes: 5 }],
    [
      'an old version without uptime',
      frameOf('{"state":"stopping","memory_bytes":7}'),
      { state: 'stopping', memoryBytes: 7 },
    ],
    ['a key twice', frameOf('{"disk_bytes":5,"disk_bytes":6}'), { diskBytes: 6 }],
    [
      'an object twice',
      frameOf('{"network":{"rx_bytes":5,"tx_bytes":6},"network":{"rx_bytes":7,"tx_bytes":8}}'),
      { networkReceiveBytes: 7, networkTransmitBytes: 8 },
    ],
  ])('in %s', (_title, frame, sample) => {
    expect(read(frame)).toEqual(sample);
  });

  it('does not complete a frame with the bytes behind it', () => {
    expect(read(frameOf('{"uptime":5').slice(0, -'"]}'.length))).toBe('other');
  });

  it('whatever the order of its keys', () => {
    const both = { ...(JSON.parse(CALAGOPUS) as object), ...(JSON.parse(PELICAN) as object) };
    const members = Object.entries(both);
    fc.assert(
      fc.property(fc.shuffledSubarray(members, { minLength: 1 }), (some) => {
        expect(read(frameOf(JSON.stringify(Object.fromEntries(some))))).not.toBe('other');
      }),
    );
  });
});

describe('a frame is left to the JSON parser', () => {
  it.each([
    ['another event', '{"event":"status","args":["running"]}'],
    ['keys of the frame in another order', JSON.stringify({ args: [PELICAN], event: 'stats' })],
    ['a second argument', JSON.stringify({ event: 'stats', args: [PELICAN, 'x'] })],
    ['an unknown key', frameOf('{"disk_bytes":5,"pids":7}')],
    ['a limit that is no number', frameOf('{"disk_bytes":5,"cpu_limit_absolute":null}')],
    ['a number of packets that is none', frameOf('{"network":{"rx_bytes":5,"rx_packets":01,"tx_bytes":5}}')],
    ['an unknown nested key', frameOf('{"network":{"rx_bytes":5,"dropped":7}}')],
    ['an unknown state', frameOf('{"state":"hibernating"}')],
    ['no keys', frameOf('{}')],
    ['an empty object', frameOf('{"network":{}}')],
    ['an object without one of its numbers', frameOf('{"network":{"rx_bytes":5}}')],
    ['an object with more than its numbers', frameOf('{"network":{"rx_bytes":5,"tx_bytes":6,"uptime":7}}')],
    ['an object without its end', frameOf('{"network":{"rx_bytes":5,"tx_bytes":6,"uptime":7}')],
    ['an object in another order', frameOf('{"disk_io":{"write_bytes":5,"read_bytes":6}}')],
    ['a space', frameOf('{"disk_bytes": 5}')],
    ['two newlines', `${frameOf('{"disk_bytes":5}')}\n\n`],
    ['text after its end', `${frameOf('{"disk_bytes":5}')}x`],
    ['no end', frameOf('{"disk_bytes":5}').slice(0, -1)],
    ['a null', frameOf('{"disk_bytes":null}')],
    ['a negative number', frameOf('{"disk_bytes":-0}')],
    ['an exponent', frameOf('{"cpu_absolute":1e-7}')],
    ['more digits than are exact', frameOf('{"disk_bytes":1234567890123456}')],
    ['more decimals than are exact', frameOf('{"cpu_absolute":0.123456789012345}')],
    ['an uptime of more than a hundred years', frameOf('{"uptime":4000000000000}')],
    ['CPU of more than ten thousand cores', frameOf('{"cpu_absolute":1000000.001}')],
    ['a leading zero', frameOf('{"disk_bytes":05}')],
    ['no digits', frameOf('{"disk_bytes":}')],
    ['no digits before the point', frameOf('{"cpu_absolute":.5}')],
    ['no decimals after the point', frameOf('{"cpu_absolute":5.}')],
    ['a comma at the end', frameOf('{"disk_bytes":5,}')],
    ['nothing', ''],
  ])('with %s', (_title, frame) => {
    expect(read(frame)).toBe('other');
  });
});

describe('the JSON parser reads the same', () => {
  const number = fc.oneof(
    fc.nat({ max: 1e15 }).map(String),
    fc.tuple(fc.nat({ max: 10_000 }), fc.nat({ max: 1_000 })).map(([whole, part]) => `${whole}.${part}`),
    fc.double({ min: 0, max: 1e15, noNaN: true }).map((value) => JSON.stringify(value)),
    fc.constantFrom('0', '0.0', '00', '1.50', '999999999999999', '9007199254740993', '3153600000000'),
  );
  const member = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('memory_bytes', 'memory_limit_bytes', 'cpu_absolute', 'disk_bytes', 'uptime'),
        number,
      )
      .map(([key, value]) => `"${key}":${value}`),
    fc
      .tuple(
        fc.constantFrom('network', 'disk_io'),
        fc.array(fc.tuple(fc.constantFrom('rx_bytes', 'tx_bytes', 'read_bytes', 'write_bytes'), number), {
          maxLength: 3,
        }),
      )
      .map(([key, values]) => `"${key}":{${values.map(([name, value]) => `"${name}":${value}`).join(',')}}`),
    fc.constantFrom('running', 'offline', 'unknown', 'paused').map((state) => `"state":"${state}"`),
  );
  const regular = fc
    .array(member, { minLength: 1, maxLength: 10 })
    .map((members) => `{${members.join(',')}}`);

  /** A frame with a few replaced, removed or inserted bytes. */
  const damaged = fc
    .tuple(
      fc.oneof(regular, fc.constantFrom(PTERODACTYL, PELICAN, CALAGOPUS)),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat({ max: 1 }),
          fc.constantFrom('', '"', '\\', '0', '.', ',', '}', '{', ' ', 'e', '-', 's'),
        ),
        { maxLength: 2 },
      ),
    )
    .map(([payload, changes]) =>
      changes.reduce((frame, [place, removed, inserted]) => {
        const at = place % frame.length;
        return frame.slice(0, at) + inserted + frame.slice(at + removed);
      }, frameOf(payload)),
    );

  it('for every frame that is read from its bytes', () => {
    const frames = fc.oneof(regular.map(frameOf), statsText.map(frameOf), damaged);
    let readFrames = 0;
    fc.assert(
      fc.property(frames, (text) => {
        const sample = read(text);
        if (sample === 'other') return;
        readFrames += 1;
        expect(parsed(Buffer.from(text))).toEqual({ event: 'stats', sample, bad: 0 });
      }),
      { numRuns: 2_000 },
    );
    expect(readFrames).toBeGreaterThan(100);
  });

  it('and no bytes make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        expect(() => read(Buffer.concat([Buffer.from(frameOf('{')), noise]))).not.toThrow();
      }),
    );
  });
});
