import { z } from 'zod';
import { EXPECTS } from '../domain/server.ts';
import { countLimit, oneOf, scalar, section, sizeLimit } from '../yaml/scalars.ts';
import { query } from './query-schema.ts';
import { isName, isServerId, LABEL_NAME_PATTERN, SERVER_ID_PATTERN, TAKEN_LABELS } from './values.ts';

/** The name of a panel or a server. */
export const name = (of: string) =>
  scalar({
    expected: `a name for the ${of} of 1 to 200 printable characters`,
    read: (text) => (isName(text) ? text : undefined),
    json: { type: ['string', 'number'] },
  });

/** Labels that the user adds to a server's series. */
export const labels = () =>
  z
    .record(
      z.string(),
      scalar({ expected: 'a text', read: (text) => text, json: { type: ['string', 'number', 'boolean'] } }),
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
      'How samples are had: by console socket with polling as the fallback (auto), or by one of them alone.',
  });

const limits = section('a map of limits', {
  memory: sizeLimit()
    .optional()
    .meta({
      description: "The server's memory limit. Default: what the panel says.",
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
        "The server's CPU limit in cores (the panel's 150 % are 1.5), for gameserver_cpu_limit_cores.",
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
      description: 'The `server` label; unique in its panel. Default: the 8-character identifier.',
      examples: ['survival'],
    }),
  labels: labels().meta({
    description: "Labels of your own on every one of the server's series.",
    examples: [{ game: 'minecraft' }],
  }),
  expect: oneOf(EXPECTS).prefault('running').meta({
    description:
      'What the alerts go by: running, the server is meant to run all the time; any, it may be off; auto, it is meant to run from the moment it was seen running until somebody stops it.',
  }),
  mode: mode(),
  query: query.optional().meta({
    description: 'Ask the game for its players ([more](players.md)). Default: not asked.',
    examples: [{ type: 'minecraft' }],
  }),
  limits: limits.prefault({}).meta({
    description: "Limits that the panel's answers don't tell, for the limit metrics.",
  }),
});
