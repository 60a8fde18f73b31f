// WebSocket frames and upgrades as bytes.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * A frame as bytes (RFC 6455, section 5.2): a byte with flags and kind, then length, mask and
 * content.
 */
export function wireFrame(first: number, content: string | Buffer = '', isMasked = false): Buffer {
  const body = Buffer.from(content);
  const mask = isMasked ? 0x80 : 0;
  const { length } = body;
  let head: Buffer;
  if (length < 126) head = Buffer.from([first, mask | length]);
  else if (length < 65_536) head = Buffer.from([first, mask | 126, length >> 8, length & 0xff]);
  else {
    head = Buffer.alloc(10);
    head.set([first, mask | 127]);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, ...(isMasked ? [Buffer.alloc(4)] : []), body]);
}

/** The response that accepts an upgrade. */
export function acceptance({ headers }: IncomingMessage): string {
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}
