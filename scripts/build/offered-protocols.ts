import type { Plugin } from 'rolldown';
import { LIBRARY_PROTOCOLS } from '../../src/query/query-types.ts';

/** What gamedig's other protocols are based on, and the list of them all. */
const PARTS = ['core', 'index'];

/** Leaves out what gamedig contains of protocols that aren't offered, with the packages that only they import. */
export function offeredProtocols(): Plugin {
  return {
    name: 'offered-protocols',
    load(id) {
      const [, protocol] = /node_modules[/\\]gamedig[/\\]protocols[/\\](\w+)\.js$/.exec(id) ?? [];
      const isOffered = protocol === undefined || [...PARTS, ...LIBRARY_PROTOCOLS].includes(protocol);
      return isOffered ? undefined : 'export default class {}';
    },
  };
}
