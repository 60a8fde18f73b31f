import { randomBytes } from 'node:crypto';
import { AttemptError } from './client.ts';
import type { PlayerCounts } from './counts.ts';
import type { Exchange } from './exchange.ts';

/**
 * Teeworlds, which gamedig doesn't support. The layouts are from Teeworlds' own sources (network.cpp, server.cpp) and from
 * libtw2's notes on both protocols. Clients are counted, because spectators take seats too.
 */

const GET_INFO = Buffer.from([0xff, 0xff, 0xff, 0xff, ...Buffer.from('gie3')]);
const INFO = Buffer.from([0xff, 0xff, 0xff, 0xff, ...Buffer.from('inf3')]);

/** Precedes a datagram that belongs to no connection, up to version 0.6. */
const HEADER_6 = Buffer.alloc(6, 0xff);

/** For servers of version 0.6 and DDNet; numbers are decimal texts. */
export async function queryTeeworlds6(exchange: Exchange): Promise<PlayerCounts> {
  const [token = 0] = randomBytes(1);
  const request = Buffer.concat([HEADER_6, GET_INFO, Buffer.from([token])]);
  const info = await exchange.udpSend(request, (datagram) =>
    datagram.subarray(HEADER_6.length).indexOf(INFO) === 0 ? datagram : undefined,
  );
  const texts =
    info
      ?.subarray(HEADER_6.length + INFO.length)
      .toString('latin1')
      .split('\0') ?? [];
  // Token, version, name, map, game type, flags, players and their limit, then clients and theirs.
  if (Number(texts[0]) !== token) throw malformed();
  return { players: texts[8], maxPlayers: texts[9] };
}

const FLAG_CONTROL = 1 << 2;
const FLAG_CONNECTIONLESS = (1 << 5) | 1;
const MESSAGE_TOKEN = 5;
const NO_TOKEN = Buffer.alloc(4, 0xff);
const HEADER_BYTES_7 = 7;
const CONNECTIONLESS_HEADER_BYTES_7 = 9;

/** The length of token requests, so that they are no shorter than the answer that they trigger. */
const TOKEN_REQUEST_BYTES = 512;

/** For servers of version 0.7, which answer only clients that have fetched a token from them. */
export async function queryTeeworlds7(exchange: Exchange): Promise<PlayerCounts> {
  const ours = randomBytes(4);
  const tokenRequest = Buffer.concat(
    [Buffer.from([FLAG_CONTROL, 0, 0]), NO_TOKEN, Buffer.from([MESSAGE_TOKEN]), ours],
    HEADER_BYTES_7 + 1 + TOKEN_REQUEST_BYTES,
  );
  const theirs = await exchange.udpSend(tokenRequest, (datagram) => {
    const isToken = datagram.length >= HEADER_BYTES_7 + 5 && datagram[HEADER_BYTES_7] === MESSAGE_TOKEN;
    if (!isToken || !datagram.subarray(3, HEADER_BYTES_7).equals(ours)) return undefined;
    return datagram.subarray(HEADER_BYTES_7 + 1, HEADER_BYTES_7 + 5);
  });
  if (theirs === null) throw malformed();
  const header = [Buffer.from([FLAG_CONNECTIONLESS]), theirs, ours];
  const info = await exchange.udpSend(Buffer.concat([...header, GET_INFO, Buffer.from([0])]), (datagram) =>
    datagram.subarray(1, 5).equals(ours) &&
    datagram.subarray(CONNECTIONLESS_HEADER_BYTES_7).indexOf(INFO) === 0
      ? datagram
      : undefined,
  );
  const fields = new Fields(info?.subarray(CONNECTIONLESS_HEADER_BYTES_7 + INFO.length) ?? Buffer.alloc(0));
  fields.number(); // the exporter's token
  for (let text = 0; text < 5; text += 1) fields.skipText(); // version, name, host name, map, game type
  for (let number = 0; number < 4; number += 1) fields.number(); // flags, skill level, players and their limit
  return { players: fields.number(), maxPlayers: fields.number() };
}

/** The encoding of version 0.7: numbers of variable length, and texts that end with a zero byte. */
class Fields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  skipText(): void {
    const end = this.#bytes.indexOf(0, this.#at);
    if (end === -1) throw malformed();
    this.#at = end + 1;
  }

  /** Six bits, then seven in each following byte; the first byte contains the sign. */
  number(): number {
    const first = this.#byte();
    let value = first & 0x3f;
    let more = (first & 0x80) !== 0;
    for (let weight = 2 ** 6; more; weight *= 2 ** 7) {
      if (weight > 2 ** 27) throw malformed();
      const byte = this.#byte();
      value += (byte & 0x7f) * weight;
      more = (byte & 0x80) !== 0;
    }
    return (first & 0x40) === 0 ? value : -value - 1;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw malformed();
    this.#at += 1;
    return byte;
  }
}

function malformed(): AttemptError {
  return new AttemptError('query_wrong_protocol', "the answer can't be read");
}
