import { describe, expect, it } from 'vitest';
import type { ApiEndpoint } from '../../../../src/domain/telemetry.ts';
import { refusalError } from '../../../../src/panel/call-errors.ts';
import type { Dialect } from '../../../../src/panel/dialect.ts';
import { DEFAULT_DIALECT, DIALECTS, otherDialect } from '../../../../src/panel/dialects/dialects.ts';
import { DIALECT_FACTS } from '../../../../src/panel/dialects/facts.ts';
import type { PanelRequest } from '../../../../src/panel/requests.ts';
import {
  plain,
  type RecordedAnswer,
  type RecordedDialogue,
  type RecordedFrame,
  type RecordedPanel,
  recordedPanels,
} from '../../../support/recorded-panels.ts';
import { valuesOf } from '../../../support/samples.ts';

it('the facts are those of the dialects', () => {
  const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).toSorted();
  expect(names(DIALECT_FACTS)).toEqual(names(DIALECTS));
});

describe('the dialects', () => {
  it('have names and key prefixes of their own', () => {
    const unique = (texts: readonly string[]) => expect(new Set(texts).size).toBe(texts.length);
    unique(DIALECTS.map(({ name }) => name));
    unique(DIALECT_FACTS.flatMap(({ keys }) => Object.values(keys).flat()));
  });

  it.each(DIALECTS)('$name comes before the one that it extends', (dialect) => {
    const base = dialect.extends;
    const isOrdered = base === undefined || DIALECTS.indexOf(dialect) < DIALECTS.indexOf(base);
    expect(isOrdered).toBe(true);
  });

  it.each([undefined, null, [], 'text', {}, { message: 'no' }])('are not shown by %j', (body) => {
    expect(otherDialect(DEFAULT_DIALECT, { status: 404, body })).toBeUndefined();
    expect(otherDialect(DEFAULT_DIALECT, { status: 200, body })).toBeUndefined();
  });
});

describe('what panels sent', () => {
  /** The path of each endpoint in a command, and the dialect's request that reads its response. */
  const ENDPOINTS: readonly (readonly [RegExp, ApiEndpoint, (dialect: Dialect) => PanelRequest<unknown>])[] =
    [
      [/\/servers\/nodes\/[^/]+\/resources"/, 'resources', (dialect) => ofNode(dialect)],
      [/\/account"/, 'account', ({ requests }) => requests.account({})],
      [/\/websocket"/, 'websocket', ({ requests }) => requests.websocket({ id: 'server' })],
      [/\/resources"/, 'resources', ({ requests }) => requests.resources({ id: 'server' })],
      [/\/backups["?]/, 'backups', ({ requests }) => requests.backups({ id: 'server', page: 1 })],
      [/\/schedules["?]/, 'schedules', ({ requests }) => requests.schedules({ id: 'server' })],
      [/\/nodes[?"]/, 'nodes', ({ requests }) => requests.nodes({})],
      [
        /\/api\/client(?:\/servers)?[?"]/,
        'listing',
        ({ requests }) => requests.listing({ page: 1, perPage: 100 }),
      ],
    ];

  function ofNode({ name, resourcesOfNode }: Dialect): PanelRequest<unknown> {
    if (resourcesOfNode === undefined) throw new Error(`${name} has no list of a node's resources`);
    return resourcesOfNode('node');
  }

  /** The dialect of a recorded panel. */
  function dialectOf({ dialect }: RecordedPanel): Dialect {
    const found = DIALECTS.find(({ name }) => name === dialect);
    if (found === undefined) throw new Error(`no dialect ${dialect}`);
    return found;
  }

  /** The decoders' result for a response. */
  function readAnswer(dialect: Dialect, answer: RecordedAnswer): unknown {
    const [, endpoint, requestIn] = ENDPOINTS.find(([path]) => path.test(answer.command)) ?? [];
    if (endpoint === undefined || requestIn === undefined)
      throw new Error(`no decoder for ${answer.command}`);
    const body = plain(answer.body);
    if (answer.status === 200) return requestIn(dialect).decode(body);
    const { problem } = refusalError({
      endpoint,
      dialect,
      request: answer.command,
      status: answer.status,
      contentType: answer.headers['content-type'] ?? 'application/json',
      rate: {},
      text: answer.text ?? JSON.stringify(body),
      apiKey: 'ptlc_0',
      url: 'https://panel.example.com',
      nowUnixMs: 0,
    });
    return problem.cause;
  }

  /** The value as JSON can represent it in a file. */
  function asJson(value: unknown): unknown {
    const written = (part: unknown) => (part instanceof Map ? Object.fromEntries(part) : (part ?? null));
    return JSON.parse(JSON.stringify(value, (_key, part: unknown) => written(part)));
  }

  /** The text of a frame on the wire. */
  function frameOf({ event, args, payload }: RecordedFrame): Buffer {
    const given = payload === undefined ? args : [JSON.stringify(plain(payload))];
    return Buffer.from(JSON.stringify(given === undefined ? { event } : { event, args: given }));
  }

  /** The handler's calls for a frame. */
  function readFrame({ socket }: Dialect, frame: Buffer): readonly unknown[] {
    const calls: unknown[] = [];
    socket.handleFrame(frame, false, {
      telemetry: {},
      unreadable: () => calls.push('unreadable'),
      consoleLine: () => calls.push('consoleLine'),
      stats: (sample) => calls.push({ stats: valuesOf(sample) }),
      status: (state) => calls.push({ status: state }),
      authenticated: () => calls.push('authenticated'),
      tokenEnding: () => calls.push('tokenEnding'),
      jwtError: (error) => calls.push({ jwtError: error }),
      daemonError: (message) => calls.push({ daemonError: message }),
      backupCompleted: () => calls.push('backupCompleted'),
    });
    return calls;
  }

  /** The cause for the end or the rejection of the connection. */
  function causeOf({ socket }: Dialect, { frames, close, refused }: RecordedDialogue): string {
    if (refused !== undefined)
      return socket.readUpgradeRefusal({ ...refused, contentType: refused.type }).cause;
    if (close !== undefined) return socket.closeCause(close.code);
    const last = frames.at(-1);
    return socket.jwtErrorCause(last?.args?.[0] ?? '');
  }

  describe.each(recordedPanels())('the decoders read what %s sent', (_name, panel) => {
    const { answers, sockets } = panel;
    const dialect = dialectOf(panel);
    const read = answers.filter((answer) => answer.read !== undefined || answer.cause !== undefined);

    it.runIf(read.length > 0).each(read.map((answer) => [answer.name, answer] as const))(
      'response: %s',
      (_entry, answer) => {
        const result = readAnswer(dialect, answer);
        if (answer.cause !== undefined) expect(result).toBe(answer.cause);
        else expect(asJson(result)).toMatchObject(plain(answer.read) as object);
      },
    );

    it.runIf(sockets.length > 0).each(sockets.map((dialogue) => [dialogue.name, dialogue] as const))(
      'socket: %s',
      (_entry, dialogue) => {
        const frames = dialogue.frames.map((recorded) => [recorded, frameOf(recorded)] as const);
        const read = frames.filter(([{ read }]) => read !== undefined);
        expect(read.map(([, frame]) => readFrame(dialect, frame))).toMatchObject(
          read.map(([recorded]) => plain(recorded.read)),
        );
        const noticed = frames.filter(([{ notice }]) => notice !== undefined);
        expect(noticed.map(([, frame]) => dialect.socket.daemonNotice(frame, true) ?? null)).toEqual(
          noticed.map(([{ notice }]) => notice),
        );
        if (dialogue.cause !== undefined) expect(causeOf(dialect, dialogue)).toBe(dialogue.cause);
      },
    );
  });
});
