import { printable } from '../domain/printable.ts';
import type { ServerMessage } from '../session/protocol.ts';

/** What a message of the node's is to the one who watches. */
export type Narration =
  /** Output, as it came. */
  | { readonly kind: 'output'; readonly text: string }
  /** Something that is told of; clean. `failed` where what we asked for was not done. */
  | { readonly kind: 'note'; readonly text: string; readonly failed: boolean }
  /** The server is gone for good. */
  | { readonly kind: 'gone'; readonly text: string };

/** What to show of a message; undefined where it is no news to a person, or is told of otherwise. */
export function narrate({ event, args }: ServerMessage): Narration | undefined {
  const [first = ''] = args;
  const said = printable(first);
  switch (event) {
    case 'console output':
    case 'install output':
    case 'transfer logs':
      return { kind: 'output', text: first };
    case 'daemon message':
      return note(`the node says: ${said}`);
    case 'daemon error':
      return failure(`the node reports an error: ${said}`);
    case 'throttled':
      return failure(`the node dropped a "${said}" message: too many at once`);
    case 'install started':
      return note('the installation has begun');
    case 'install completed':
      return note('the installation is over');
    case 'transfer status':
      return note(`transfer to another node: ${said}`);
    case 'backup completed':
      return note('a backup has ended');
    case 'backup restore completed':
      return note('a backup was restored');
    case 'deleted':
      return { kind: 'gone', text: 'the server was deleted' };
    default:
      return undefined;
  }
}

function note(text: string): Narration {
  return { kind: 'note', text, failed: false };
}

function failure(text: string): Narration {
  return { kind: 'note', text, failed: true };
}
