// The query protocols of Teeworlds.

import { randomBytes } from 'node:crypto';
import type { AskProtocol } from './protocols.ts';
import { QueryError } from './query-model.ts';

/**
 * Teeworlds, which gamedig doesn't support. The formats are from Teeworlds' sources (network.cpp,
 * server.cpp) and libtw2's notes on both protocols. Clients are counted, because spectators occupy
 * seats, too.
 */

const GET_INFO = Buffer.from([0xff, 0xff, 0xff, 0xff, ...Buffer.from('gie3')]);
const INFO = Buffer.from([0xff, 0xff, 0xff, 0xff, ...Buffer.from('inf3')]);

/** The prefix of a datagram without a connection, up to version 0.6. */
const HEADER_6 = Buffer.alloc(6, 0xff);

/**
 * The prefix of requests for DDNet's longer response, which other servers ignore. The usual
 * response counts at most 16 clients.
 */
const EXTENDED_HEADER_6 = Buffer.from('xe\0\0\0\0');
const EXTENDED_INFO = Buffer.from([0xff, 0xff, 0xff, 0xff, ...Buffer.from('iext')]);

/** For servers of version 0.6 and DDNet, which send numbers as decimal text. */
export const queryTeeworlds6: AskProtocol = async (network) => {
  const [token = 0] = randomBytes(1);
  const request = [GET_INFO, Buffer.from([token])];
  await network.udpSend(Buffer.concat([EXTENDED_HEADER_6, ...request]));
  const info = await network.udpSend(Buffer.concat([HEADER_6, ...request]), (datagram) => {
    const answer = datagram.subarray(HEADER_6.length);
    return answer.indexOf(INFO) === 0 || answer.indexOf(EXTENDED_INFO) === 0 ? answer : undefined;
  });
  // Token, version, name, map, in the longer response its checksum and size, game type, flags,
  // players and their limit, then clients and their limit.
  const texts = info.subarray(INFO.length).toString('latin1').split('\0');
  if (Number(texts[0]) !== token) throw new QueryError();
  const at = info.indexOf(EXTENDED_INFO) === 0 ? 10 : 8;
  return { players: texts[at], maxPlayers: texts[at + 1] };
};

const FLAG_CONTROL = 1 << 2;
const FLAG_CONNECTIONLESS = (1 << 5) | 1;
const MESSAGE_TOKEN = 5;
const NO_TOKEN = Buffer.alloc(4, 0xff);
const HEADER_BYTES_7 = 7;
const CONNECTIONLESS_HEADER_BYTES_7 = 9;

/** The length of token requests, which may not be shorter than their response. */
const TOKEN_REQUEST_BYTES = 512;

/** For servers of version 0.7, which respond only to clients with a token from them. */
export const queryTeeworlds7: AskProtocol = async (network) => {
  const ours = randomBytes(4);
  const tokenRequest = Buffer.concat(
    [Buffer.from([FLAG_CONTROL, 0, 0]), NO_TOKEN, Buffer.from([MESSAGE_TOKEN]), ours],
    HEADER_BYTES_7 + 1 + TOKEN_REQUEST_BYTES,
  );
  const theirs = await network.udpSend(tokenRequest, (datagram) => {
    const isToken = datagram.length >= HEADER_BYTES_7 + 5 && datagram[HEADER_BYTES_7] === MESSAGE_TOKEN;
    if (!isToken || !datagram.subarray(3, HEADER_BYTES_7).equals(ours)) return undefined;
    return datagram.subarray(HEADER_BYTES_7 + 1, HEADER_BYTES_7 + 5);
  });
  const header = [Buffer.from([FLAG_CONNECTIONLESS]), theirs, ours];
  const info = await network.udpSend(Buffer.concat([...header, GET_INFO, Buffer.from([0])]), (datagram) =>
    datagram.subarray(1, 5).equals(ours) &&
    datagram.subarray(CONNECTIONLESS_HEADER_BYTES_7).indexOf(INFO) === 0
      ? datagram
      : undefined,
  );
  const bytes = info.subarray(CONNECTIONLESS_HEADER_BYTES_7 + INFO.length);
  // The exporter's token, then version, name, host name, map and game type.
  let at = 1;
  for (let text = 0; text < 5; text += 1) at = bytes.indexOf(0, at) + 1 || bytes.length;
  // Flags, skill level, players and their limit, then clients and their limit.
  const [, , , , players, maxPlayers] = numbersIn(bytes.subarray(at));
  return { players, maxPlayers };
};

/** Numbers of version 0.7: six bits and the sign in the first byte, then seven bits per byte. */
function numbersIn(bytes: Buffer): readonly number[] {
  const numbers: number[] = [];
  let [value, weight, isNegative] = [0, 1, false];
  for (const byte of bytes) {
    const isFirst = weight === 1;
    if (isFirst) isNegative = (byte & 0x40) !== 0;
    value += (byte & (isFirst ? 0x3f : 0x7f)) * weight;
    weight *= isFirst ? 2 ** 6 : 2 ** 7;
    if ((byte & 0x80) !== 0) continue;
    numbers.push(isNegative ? -value - 1 : value);
    [value, weight] = [0, 1];
  }
  return numbers;
}
