import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { APPLICATION_KEY } from '../../../src/simulator/application-api.ts';
import { DEFAULT_SEED, startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { signToken } from '../../../src/simulator/tokens.ts';
import { eventually } from '../../support/eventually.ts';
import { fastClock } from '../../support/exporter.ts';
import {
  differences,
  hasWording,
  type RecordedAnswer,
  type RecordedDialogue,
  type RecordedFrame,
  type RecordedPanel,
  recordedPanels,
} from '../../support/recorded-panels.ts';
import { ConsoleClient, credentials } from './console-client.ts';

const clock = fastClock();
let panel: Simulator | undefined;
const clients: ConsoleClient[] = [];
afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.terminate();
  await panel?.stop();
});

/** Starts a simulated panel in the recorded state. */
async function startAs(
  { simulator }: RecordedPanel,
  { settings, server, steps }: RecordedAnswer | RecordedDialogue,
): Promise<Simulator> {
  const servers = [{ ...simulator.server, ...server }] as never;
  panel = await startSimulator({ clock, ...simulator.settings, ...settings, servers });
  for (const step of steps) await take(panel, step);
  return panel;
}

/** Calls a control operation, or waits for a state. */
async function take(on: Simulator, step: Record<string, unknown>): Promise<void> {
  for (const [path, body] of Object.entries(step)) {
    if (path === 'until') {
      await eventually(() => expect(on.server('smp').state).toBe(body));
      continue;
    }
    const answer = await fetch(`${on.controlUrl}/control/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    expect([path, answer.status]).toEqual([path, 200]);
  }
}

/** The key in the headers in a variable: a key of the simulated panel, or the recorded text. */
function keyIn(headers: string, on: Simulator): string {
  const [, key = ''] = /Bearer ([^"]+)"/.exec(headers) ?? [];
  if (key === '$APPLICATION_KEY') return APPLICATION_KEY;
  return key.startsWith('$') ? on.apiKey : key;
}

/** The UUID of the server's node in the server list of Calagopus. */
async function nodeIdOf({ url, apiKey }: Simulator): Promise<string> {
  const response = await fetch(`${url}/api/client/servers`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const { servers } = (await response.json()) as { servers: { data: { node_uuid: string }[] } };
  return servers.data[0]?.node_uuid ?? '';
}

/** Runs a recorded command against the simulated panel. */
async function run(
  { variables }: RecordedPanel,
  { command, repeat }: RecordedAnswer,
  on: Simulator,
): Promise<Response> {
  const [, variable = '', path = ''] = /^curl -si \$(\w+) "\$PANEL(\S+)"$/.exec(command) ?? [];
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${keyIn(variables[variable] ?? '', on)}`,
  };
  const node = path.includes('$NODE') ? await nodeIdOf(on) : '';
  const url = on.url + path.replace('$SERVER', on.server('smp').identifier).replace('$NODE', node);
  for (let count = 1; count < repeat; count += 1) await (await fetch(url, { headers })).text();
  return fetch(url, { headers });
}

const HOUR_MS = 3_600_000;

/** The variables that a recorded dialogue may use. */
async function variablesOf(
  on: Simulator,
  { send, command }: RecordedDialogue,
): Promise<Record<string, string>> {
  const { token, socket } = await credentials(on, 'smp');
  const key = createHash('sha256').update(`node token key ${DEFAULT_SEED}`).digest();
  const { uuid } = on.server('smp');
  const signed = (issuedAgoMs: number, lastsMs: number, permissions = ['*'], secret: Uint8Array = key) => {
    const issuedAtMs = clock.toUnixMs(clock.now()) - issuedAgoMs;
    return signToken(
      secret,
      { serverUuid: uuid, issuedAtMs, expiresAtMs: issuedAtMs + lastsMs },
      'id',
      permissions,
    );
  };
  const needsAnother = JSON.stringify([send, command]).includes('ANOTHER');
  if (needsAnother) on.addServer({ name: 'another', profile: 'offline' });
  return {
    $TOKEN: token,
    $TOKEN_OF_ANOTHER: needsAnother ? (await credentials(on, 'another')).token : '',
    $TOKEN_TO_READ: await signed(0, HOUR_MS, ['websocket.connect', 'control.read-console']),
    $TOKEN_WITHOUT_CONNECT: await signed(0, HOUR_MS, ['control.start']),
    $TOKEN_BEFORE_START: await signed(HOUR_MS, 2 * HOUR_MS),
    $EXPIRED_TOKEN: await signed(HOUR_MS, HOUR_MS / 2),
    $FORGED_TOKEN: await signed(0, HOUR_MS, ['*'], new Uint8Array(32)),
    $SOCKET: socket,
    $ANOTHER_SOCKET: socket.replace(uuid, '00000000-0000-4000-8000-000000000000'),
  };
}

/** The origin and the address in a recorded command. */
function placeOf({ command }: RecordedDialogue, on: Simulator, variables: Record<string, string>) {
  const [, origin = '', address = ''] = /^websocat --origin "?([^\s"]+)"? "(\$\w+)"$/.exec(command) ?? [];
  return { origin: origin.replace('$PANEL', on.url), address: variables[address] ?? '' };
}

async function open(address: string, origin: string): Promise<ConsoleClient> {
  const client = new ConsoleClient(address, origin);
  clients.push(client);
  await once(client.socket, 'open');
  return client;
}

/** Compares the frames with the recorded ones. Frames between them must have other events. */
function frameDifferences(recorded: readonly RecordedFrame[], frames: readonly string[]): readonly string[] {
  let at = 0;
  return recorded.flatMap((frame, index) => {
    const rest = frames.slice(at).map((one) => JSON.parse(one) as { event: string; args?: string[] });
    const found = rest.findIndex(({ event }) => event === frame.event);
    const actual = rest[found];
    if (actual === undefined) return [`frame ${index} (${frame.event}): none`];
    at += found + 1;
    if (frame.payload === undefined) {
      return differences(frame.args ?? [], actual.args ?? [], `frame ${index} (${frame.event})`);
    }
    return differences(
      frame.payload,
      JSON.parse(actual.args?.[0] ?? 'null'),
      `frame ${index} (${frame.event})`,
    );
  });
}

const simulated = recordedPanels().filter(([, recorded]) => recorded.simulated);

describe.each(simulated)('the simulator plays what %s does', (_name, recorded) => {
  const answers = recorded.answers.filter(({ notSimulated }) => notSimulated === undefined);
  const sockets = recorded.sockets.filter(({ notSimulated }) => notSimulated === undefined);

  it.runIf(answers.length > 0).each(answers.map((answer) => [answer.name, answer] as const))(
    'response: %s',
    async (_entry, answer) => {
      const response = await run(recorded, answer, await startAs(recorded, answer));
      const body = await response.text();
      expect([response.status, body]).toEqual([answer.status, body]);
      for (const [name, value] of Object.entries(answer.headers)) {
        const actual = response.headers.get(name);
        expect(value === null ? actual === null : hasWording(value, actual), `${name}: ${actual}`).toBe(true);
      }
      if (answer.text !== undefined) expect(differences(answer.text, body)).toEqual([]);
      if (answer.body !== undefined) expect(differences(answer.body, JSON.parse(body))).toEqual([]);
    },
  );

  it.runIf(sockets.length > 0).each(sockets.map((dialogue) => [dialogue.name, dialogue] as const))(
    'socket: %s',
    async (_entry, dialogue) => {
      const on = await startAs(recorded, dialogue);
      const variables = await variablesOf(on, dialogue);
      const { address, origin } = placeOf(dialogue, on, variables);
      for (let count = 1; count < dialogue.repeat; count += 1) await open(address, origin);
      if (dialogue.refused !== undefined) {
        const refused = new WebSocket(address, { origin });
        refused.on('error', () => undefined);
        const [, response] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage];
        expect([response.statusCode, response.headers['content-type'], await text(response)]).toEqual([
          dialogue.refused.status,
          dialogue.refused.type,
          dialogue.refused.body,
        ]);
        refused.terminate();
        return;
      }
      const client = await open(address, origin);
      for (const { event, args = [] } of dialogue.send) {
        client.send(event, ...args.map((argument) => variables[argument] ?? argument));
      }
      if (dialogue.after.length > 0) await eventually(() => expect(client.events.length).toBeGreaterThan(1));
      for (const step of dialogue.after) await take(on, step);
      await eventually(() => expect(frameDifferences(dialogue.frames, client.frames)).toEqual([]));
      if (dialogue.close !== undefined) await eventually(() => expect(client.closed).toEqual(dialogue.close));
    },
  );
});
