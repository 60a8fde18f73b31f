import type { PanelRequest } from '../../src/panel/dialect.ts';
import { withEntries } from '../../src/panel/json-pieces.ts';

/** What a request makes of a response. */
export function decoded<T>({ decode, decodeEntry }: PanelRequest<T>, body: unknown): T {
  return decode(decodeEntry === undefined ? body : withEntries(body, decodeEntry));
}
