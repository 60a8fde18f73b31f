import type { ConsoleConnection } from './connection.ts';
import { eventFrame } from './frames.ts';
import type { SocketAction } from './schema.ts';

const GARBAGE = '{"event":"stats","args":["{\\"memory_bytes\\":';
/** Just over what clients are expected to take. */
const OVERSIZE_BYTES = 1_048_577;

/** Does to one open socket what a test asks for. */
export function act(connection: ConsoleConnection, action: SocketAction, trailingNewline: boolean): void {
  switch (action.kind) {
    case 'drop':
      connection.drop();
      break;
    case 'half-open':
      connection.freeze();
      break;
    case 'close':
      connection.close(action.code, action.reason ?? '');
      break;
    case 'send':
      connection.sendRaw(eventFrame(action.event, action.args ?? [], trailingNewline), false);
      break;
    case 'raw':
      connection.sendRaw(action.text, false);
      break;
    case 'binary':
      connection.sendRaw(Buffer.from(action.base64, 'base64'), true);
      break;
    case 'garbage':
      connection.sendRaw(GARBAGE, false);
      break;
    case 'oversize': {
      const line = 'x'.repeat(action.bytes ?? OVERSIZE_BYTES);
      connection.sendRaw(eventFrame('console output', [line], trailingNewline), false);
      break;
    }
    case 'expire':
      connection.expireNow();
      break;
  }
}
