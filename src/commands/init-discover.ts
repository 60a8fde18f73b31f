// Asks which servers to monitor; the answers become the settings of `discover`.

import type { ListedServer } from '../panel/responses.ts';
import { madePerMinute } from '../panel/scheduler/rate-limit.ts';
import { typeOfEgg } from '../query/eggs.ts';
import type { Asker } from './asker.ts';
import { alwaysRunning, expectLines } from './init-expect.ts';
import type { KeyAccess } from './key-access.ts';

/** The person to ask, and the access to the panel. */
export interface DiscoverSources {
  /** Undefined without a terminal. */
  readonly asker: Pick<Asker, 'confirms' | 'select' | 'choose'> | undefined;
  /** Reads the access to all servers, which an administrator's key has. */
  readonly accessToAll: () => Promise<KeyAccess>;
  /** Rejects if the server's state can't be read. */
  readonly isRunning: (server: ListedServer) => Promise<boolean>;
  readonly note: (text: string) => void;
}

/**
 * The lines of the settings, and the access that they result in. Asks an administrator without
 * servers whether to monitor all servers of the panel, then which servers should always run, and
 * whether to count players.
 */
export async function chooseServers(own: KeyAccess, { accessToAll, ...sources }: DiscoverSources) {
  const { asker } = sources;
  const discover: string[] = [];
  let access = own;
  if (own.servers.length === 0 && own.account?.isAdmin === true) {
    const all = await accessToAll();
    const { length } = all.servers;
    const question = `The account is an administrator's, and has no servers of its own. Monitor all ${length} servers of the panel?`;
    if (all.problem === undefined && length > 0 && (await asker?.confirms(question)) !== false) {
      discover.push('type: admin-all');
      access = all;
    }
  }
  const { servers, limitPerMinute } = access;
  const always = await alwaysRunning(servers, { ...sources, mostAsked: madePerMinute(limitPerMinute) });
  const known = servers.filter(({ egg = '' }) => typeOfEgg(egg) !== undefined).length;
  const question = `Count players? This queries the games of ${known} of ${servers.length} servers every 30 seconds.`;
  if (known > 0 && (await asker?.confirms(question)) === true) discover.push('query: auto');
  return { discover: [...discover, ...expectLines(always)], access };
}
