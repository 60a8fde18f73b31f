// Random inputs that contain known attacks.
import fc from 'fast-check';

/**
 * Words that have broken programs: names of object properties, escapes, quotes, separators, invalid
 * numbers.
 */
const WORDS = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u001b[2J\u001b]0;x\u0007',
  '\u009b31m',
  '"} 1\n# EOF\n',
  'a\\',
  '\r\n',
  '\u2028',
  '\u202e',
  '\ud800',
  '\u0000',
  'NaN',
  '+Inf',
  '-0',
  '${HOME}',
];

/** Any text, often with parts that are known to cause harm. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(...WORDS),
  fc
    .array(fc.constantFrom(...WORDS, 'a', '"', '{', ',', '='), { maxLength: 8 })
    .map((words) => words.join('')),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 10 })
    .map((units) => String.fromCharCode(...units)),
);

/** The text of any JSON value. Its numbers may exceed JavaScript's range. */
const jsonText: fc.Arbitrary<string> = fc.oneof(
  fc.nat().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    'null',
    'true',
    '-1',
    '-0',
    '1e999',
    '-1e999',
    '9007199254740993',
    '1e-400',
    '{}',
    '[]',
    '""',
  ),
  fc.json({ maxDepth: 2 }),
  hostileText.map((text) => JSON.stringify(text)),
);

/**
 * The text of a JSON object with some of these keys, in any order, possibly duplicated, and with
 * some unknown keys.
 */
function objectText(values: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> {
  const known = Object.entries(values).map(([key, value]) =>
    fc
      .oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: jsonText })
      .map((text) => `${JSON.stringify(key)}:${text}`),
  );
  const other = fc.tuple(hostileText, jsonText).map(([key, text]) => `${JSON.stringify(key)}:${text}`);
  return fc
    .array(fc.oneof({ weight: 8, arbitrary: fc.oneof(...known) }, { weight: 1, arbitrary: other }), {
      maxLength: 12,
    })
    .map((pairs) => `{${pairs.join(',')}}`);
}

const bytes = fc.oneof(
  fc.nat({ max: 10_000_000 }).map(String),
  fc.constantFrom('0', '9007199254740991', '9007199254740992', '-1', '0.5'),
);

const stateText = fc
  .constantFrom('running', 'offline', 'starting', 'stopping', 'stopped', 'unknown', 'missing', 'Running', '')
  .map((state) => JSON.stringify(state));

/** Texts of a `stats` event. */
export const statsText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: objectText({
      memory_bytes: bytes,
      memory_limit_bytes: bytes,
      cpu_absolute: fc.double({ min: 0, max: 6_400, noNaN: true }).map(String),
      disk_bytes: bytes,
      network: objectText({ rx_bytes: bytes, tx_bytes: bytes }),
      disk_io: objectText({ read_bytes: bytes, write_bytes: bytes }),
      uptime: bytes,
      state: stateText,
    }),
  },
  { weight: 1, arbitrary: jsonText },
  { weight: 1, arbitrary: hostileText },
);

/** Bodies of a resources response. */
export const resourcesText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: objectText({
      object: fc.constant('"stats"'),
      attributes: objectText({
        current_state: stateText,
        is_suspended: fc.constantFrom('true', 'false'),
        resources: objectText({
          memory_bytes: bytes,
          cpu_absolute: bytes,
          disk_bytes: bytes,
          network_rx_bytes: bytes,
          network_tx_bytes: bytes,
          uptime: bytes,
        }),
      }),
    }),
  },
  { weight: 1, arbitrary: jsonText },
);

/** The events that the program handles. */
export const EVENTS = [
  'stats',
  'status',
  'console output',
  'auth success',
  'token expiring',
  'token expired',
  'jwt error',
] as const;

/** Texts of frames, valid or not. */
export const frameText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: statsText.map((payload) => JSON.stringify({ event: 'stats', args: [payload] })) },
  { weight: 2, arbitrary: stateText.map((state) => `{"event":"status","args":[${state}]}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.oneof(fc.constantFrom(...EVENTS), hostileText), fc.array(jsonText, { maxLength: 3 }))
      .map(([event, args]) => `{"event":${JSON.stringify(event)},"args":[${args.join(',')}]}`),
  },
  { weight: 1, arbitrary: objectText({ event: fc.constant('"stats"'), args: jsonText }) },
  { weight: 1, arbitrary: jsonText },
  { weight: 1, arbitrary: hostileText },
);
