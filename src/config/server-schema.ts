import { z } from 'zod';
import { EXPECTS } from '../domain/server.ts';
import { countLimit, oneOf, scalar, section, sizeLimit } from '../yaml/scalars.ts';
import { query } from './query-schema.ts';
import { isName, isServerId, LABEL_NAME_PATTERN, SERVER_ID_PATTERN, TAKEN_LABELS } from './values.ts';

/** The name of a panel or a server. */
export const name = (of: string) =>
  scalar({
    expected: `a ${of} name of 1 to 200 printable characters`,
    read: (text) => (isName(text) ? text : undefined),
    json: { type: ['string', 'number'] },
  });

/** Labels that the user adds to a server's series. */
export const labels = () =>
  z
    .record(
      z.string(),
      scalar({ expected: 'a string', read: (text) => text, json: { type: ['string', 'number', 'boolean'] } }),
      { error: 'expected a map of labels, such as { game: minecraft }' },
    )
    .prefault({})
    .meta({
      propertyNames: {
        pattern: LABEL_NAME_PATTERN,
        not: { anyOf: [{ pattern: '^__' }, { enum: TAKEN_LABELS }] },
      },
    });

/** How a server's samples are collected. */
export const mode = () =>
  oneOf(['auto', 'socket', 'poll']).prefault('auto').meta({
    description:
      'How samples are collected: auto uses the console socket and falls back to polling, socket and poll use only that.',
  });

const limits = section('a map of limits', {
  memory: sizeLimit()
    .optional()
    .meta({
      description:
        "The server's memory limit, for gameserver_memory_limit_bytes. Default: the limit that the panel sends.",
      examples: ['4GiB', 'unlimited'],
    }),
  disk: sizeLimit()
    .optional()
    .meta({
      description: "The server's disk limit, for gameserver_disk_limit_bytes.",
      examples: ['20GiB', 'unlimited'],
    }),
  cpu_cores: countLimit()
    .optional()
    .meta({
      description:
        "The server's CPU limit in cores (150 % in the panel is 1.5), for gameserver_cpu_limit_cores.",
      examples: [1.5, 'unlimited'],
    }),
});

/** One entry of a panel's `servers`. */
export const server = section('a server, such as `- id: 1a7ce997`', {
  id: scalar({
    expected: "a server's id: its full UUID, or the 8-character short identifier (hexadecimal digits)",
    read: (text) => (isServerId(text) ? text : undefined),
    // A short identifier may be all digits, which YAML reads as a number.
    json: { type: ['string', 'number'], pattern: SERVER_ID_PATTERN },
  }).meta({
    description:
      "The server's full UUID or 8-character short identifier: the last part of its address in the panel.",
    examples: ['1a7ce997-259b-452e-8b4e-cecc464142ca', 'd3aac109'],
  }),
  name: name('server')
    .optional()
    .meta({
      description:
        'The server name, used as the `server` label. Must be unique within the panel. Default: the 8-character identifier.',
      examples: ['survival'],
    }),
  labels: labels().meta({
    description: 'Additional labels on every series of the server.',
    examples: [{ game: 'minecraft' }],
  }),
  expect: oneOf(EXPECTS).prefault('running').meta({
    description:
      'Whether alerts fire when the server is off. running: it should always run. any: it is allowed to be off. auto: it is expected to run once it has been seen running, until somebody stops it.',
  }),
  mode: mode(),
  query: query.optional().meta({
    description: 'Query the game for its players ([more](players.md)). Default: not queried.',
    examples: [{ type: 'minecraft' }],
  }),
  limits: limits.prefault({}).meta({
    description: 'Limits that override those from the panel, for the limit metrics.',
  }),
});
