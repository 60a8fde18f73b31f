// The query protocols of Minecraft.

import type { AskProtocol } from './protocols.ts';
import { QueryError } from './query-model.ts';

// Minecraft's own protocols: https://minecraft.wiki/w/Java_Edition_protocol/Server_List_Ping and
// https://minecraft.wiki/w/RakNet. gamedig misreads escaped texts and partial responses, and fails
// if a server hides its players.

/** A status works with any version. All servers understand this one. */
const PROTOCOL_VERSION = 47;
const STATUS = 1;

/** For Java Edition, which responds with JSON. The players may be missing. */
export const queryJava: AskProtocol = async (network, { hostname, port }) => {
  const name = Buffer.from(hostname);
  const handshake = [0, PROTOCOL_VERSION, ...varint(name.length), ...name, port >> 8, port & 0xff, STATUS];
  const request = Buffer.from([...varint(handshake.length), ...handshake, 1, 0]);
  const text = await network.withTcp((connection) => network.tcpSend(connection, request, statusIn));
  const { players, version } = JSON.parse(text) as {
    readonly players?: { readonly online?: unknown; readonly max?: unknown };
    readonly version?: { readonly name?: unknown };
  };
  if (players !== undefined) return { players: players.online, maxPlayers: players.max };
  if (typeof version?.name !== 'string') throw new QueryError("the response isn't a server status");
  return { isHidden: true };
};

const LEGACY_PING = Buffer.from([0xfe, 1]);
const KICK = 0xff;

/**
 * For Java Edition before version 1.7, which responds as if it kicked a player: with a length and a
 * text in UTF-16. Since 1.4, the text contains §1, protocol, version, name, players and their limit
 * between zeros; earlier, name, players and limit between section signs.
 */
export const queryJavaBefore17: AskProtocol = async (network) => {
  const text = await network.withTcp((connection) =>
    network.tcpSend(connection, LEGACY_PING, (bytes) => {
      if (bytes[0] !== KICK) throw new QueryError();
      const end = bytes.length < 3 ? Number.POSITIVE_INFINITY : 3 + 2 * bytes.readUInt16BE(1);
      return bytes.length < end
        ? undefined
        : Buffer.from(bytes.subarray(3, end)).swap16().toString('utf16le');
    }),
  );
  const [players, maxPlayers] = text.split(text.startsWith('§1\0') ? '\0' : '§').slice(-2);
  return { players, maxPlayers };
};

/** The JSON in a status response; undefined until it has the announced length. */
function statusIn(bytes: Buffer): string | undefined {
  const packet = prefixed(bytes);
  if (packet === undefined) return undefined;
  // The first byte is the packet's type.
  const text = packet[0] === 0 ? prefixed(packet.subarray(1)) : undefined;
  if (text === undefined) throw new QueryError();
  return text.toString('utf8');
}

/** The bytes after a length; undefined if they are incomplete. */
function prefixed(bytes: Buffer): Buffer | undefined {
  let length = 0;
  for (const [index, byte] of bytes.subarray(0, 3).entries()) {
    length += (byte & 0x7f) << (7 * index);
    const end = index + 1 + length;
    if ((byte & 0x80) === 0) return end <= bytes.length ? bytes.subarray(index + 1, end) : undefined;
  }
  if (bytes.length >= 3) throw new QueryError('the response is too long');
  return undefined;
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

const MAGIC = Buffer.from('00ffff00fefefefefdfdfdfd12345678', 'hex');
const TIME = Buffer.from('0102030405060708', 'hex');
const PING = Buffer.concat([Buffer.from([1]), TIME, MAGIC, Buffer.alloc(8)]);
const [MAGIC_AT, TEXT_AT] = [17, 35];
const PONG = 0x1c;

/** For Bedrock Edition, which responds with fields between semicolons. */
export const queryBedrock: AskProtocol = async (network) => {
  const pong = await network.udpSend(PING, (datagram) => {
    const isPong = datagram[0] === PONG && datagram.subarray(1, 9).equals(TIME);
    return isPong && datagram.subarray(MAGIC_AT, MAGIC_AT + 16).equals(MAGIC) ? datagram : undefined;
  });
  const text = pong.subarray(TEXT_AT).toString('utf8');
  return countsIn(text.split(';'));
};

/**
 * Protocol, version, players, their limit, and in newer servers their number, in these fields of a
 * status.
 */
const COUNTS = /^-?\d{1,20};\d*[^;\d][^;]*;(\d{1,10});(-?\d{1,20})(?:;(?:-?\d{1,20})?)?$/;

/**
 * The counts in a status, which begins with edition and name. The name may contain semicolons,
 * escaped or not.
 */
function countsIn(fields: readonly string[]) {
  const windows = fields.map((_, at) => COUNTS.exec(fields.slice(at, at + 5).join(';')));
  const [found, ...others] = windows.slice(2).filter((counts) => counts !== null);
  if (found === undefined || others.length > 0) throw new QueryError('the response contains no player count');
  return { players: found[1], maxPlayers: found[2] };
}
