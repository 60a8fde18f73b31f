// The part of the build that leaves out protocols of gamedig.

import type { Plugin } from 'rolldown';
import { LIBRARY_PROTOCOLS } from '../../src/query/query-types.ts';

/** The base class of gamedig's protocols, and the list of all protocols. */
const PARTS = ['core', 'index'];

/**
 * Leaves out the protocols of gamedig that aren't offered, with the packages that only they import.
 */
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
