// The parts of the WebSocket protocol that a node needs.

import { createHash } from 'node:crypto';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The head of the response to an upgrade. */
export function switchingProtocols(key: string): string {
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

const FINAL = 0x80;
const OPCODES = { text: 1, close: 8, ping: 9, pong: 10 };
const MASKED = 0x80;
const SHORT_LENGTH = 126;
const MASK_BYTES = 4;

/** An unmasked frame of less than 64 KiB. */
function frame(opcode: number, payload: Uint8Array): Buffer {
  const isShort = payload.length < SHORT_LENGTH;
  const head = isShort ? 2 : 4;
  const bytes = Buffer.allocUnsafe(head + payload.length);
  bytes[0] = FINAL | opcode;
  bytes[1] = isShort ? payload.length : SHORT_LENGTH;
  if (!isShort) bytes.writeUInt16BE(payload.length, 2);
  bytes.set(payload, head);
  return bytes;
}

export function textFrame(text: string): Buffer {
  return frame(OPCODES.text, Buffer.from(text));
}

/** The content of a client's bytes: texts, frames to send back, and whether the client closes. */
interface ClientFrames {
  readonly texts: readonly string[];
  readonly replies: readonly Buffer[];
  readonly isClosing: boolean;
  /** The beginning of an incomplete frame. */
  readonly rest: Buffer;
}

/**
 * Reads masked frames of less than 64 KiB that aren't fragmented. Clients of nodes send no others.
 */
export function readFrames(bytes: Buffer): ClientFrames {
  const texts: string[] = [];
  const replies: Buffer[] = [];
  let isClosing = false;
  let at = 0;
  for (;;) {
    const [first = 0, second = 0] = bytes.subarray(at, at + 2);
    const isLong = (second & ~MASKED) === SHORT_LENGTH;
    const head = (isLong ? 4 : 2) + MASK_BYTES;
    if (bytes.length < at + head) break;
    const length = isLong ? bytes.readUInt16BE(at + 2) : second & ~MASKED;
    if (bytes.length < at + head + length) break;
    const mask = bytes.subarray(at + head - MASK_BYTES, at + head);
    const payload = bytes.subarray(at + head, at + head + length);
    for (let index = 0; index < length; index += 1)
      payload[index] = (payload[index] ?? 0) ^ (mask[index % MASK_BYTES] ?? 0);
    const opcode = first & 0x0f;
    if (opcode === OPCODES.text) texts.push(payload.toString());
    else if (opcode === OPCODES.ping) replies.push(frame(OPCODES.pong, payload));
    else if (opcode === OPCODES.close) {
      replies.push(frame(OPCODES.close, payload));
      isClosing = true;
    }
    at += head + length;
  }
  return { texts, replies, isClosing, rest: bytes.subarray(at) };
}
