// Asks which servers should always run; the answer becomes rules of the configuration.
import { stringify } from 'yaml';
import type { ListedServer } from '../panel/responses.ts';
import { printable } from '../text/printable.ts';
import { quantity } from '../text/sentences.ts';
import type { Asker } from './asker.ts';

type Server = Pick<ListedServer, 'identifier' | 'name' | 'uuid'>;

/** The maximum number of servers in a list to choose from. */
const MOST_CHOSEN = 200;

const ALWAYS = 'Which servers should always run?';

interface ExpectSources<Listed extends Server> {
  readonly asker: Pick<Asker, 'select' | 'choose'> | undefined;
  /** How many servers' states can be read without exceeding the panel's rate limit. */
  readonly mostAsked: number;
  /** The state of a server; rejects if it can't be read. */
  readonly isRunning: (server: Listed) => Promise<boolean>;
  readonly note: (text: string) => void;
}

/** The servers that should always run, chosen by the person; none without a terminal. */
export async function alwaysRunning<Listed extends Server>(
  servers: readonly Listed[],
  { asker, mostAsked, isRunning, note }: ExpectSources<Listed>,
): Promise<readonly Listed[]> {
  if (asker === undefined || servers.length === 0) return [];
  const answer = await asker.select(ALWAYS, [
    ...(servers.length <= mostAsked ? [['now', 'all servers that are running now'] as const] : []),
    ...(servers.length <= MOST_CHOSEN ? [['choose', 'choose'] as const] : []),
    ['later', 'decide later: each server, once it has been seen running, until somebody stops it'] as const,
  ]);
  if (answer === 'choose') {
    const chosen = await asker.choose(
      `${ALWAYS} Select with the space bar, confirm with Enter.`,
      servers.map(({ identifier, name }) => [identifier, printable(name)]),
    );
    return servers.filter(({ identifier }) => chosen.includes(identifier));
  }
  return answer === 'now' ? await running(servers, isRunning, note) : [];
}

/** The number of concurrent calls to the panel. */
const PARALLEL = 8;

async function running<Listed extends Server>(
  servers: readonly Listed[],
  isRunning: (server: Listed) => Promise<boolean>,
  note: (text: string) => void,
): Promise<readonly Listed[]> {
  const found: Listed[] = [];
  let failed = 0;
  for (let from = 0; from < servers.length; from += PARALLEL) {
    const some = servers.slice(from, from + PARALLEL);
    const states = await Promise.all(some.map((server) => isRunning(server).catch(() => undefined)));
    found.push(...some.filter((_, index) => states[index] === true));
    failed += states.filter((state) => state === undefined).length;
  }
  const unknown = failed === 0 ? '' : `; the state of ${quantity(failed, 'server')} could not be read`;
  note(`${quantity(found.length, 'server')} of ${servers.length} should always run${unknown}.\n`);
  return found;
}

/**
 * The lines of `discover.expect` for these servers. Servers are named by id, because another server
 * could get their name.
 */
export function expectLines(servers: readonly Server[]): readonly string[] {
  if (servers.length === 0) return [];
  return [
    'expect:',
    '  # These should always run; any other once it has been seen running, until somebody stops it.',
    '  - match:',
    '      id:',
    ...servers.map(({ identifier, name }) => `        - ${quoted(identifier)} # ${printable(name)}`),
  ];
}

/** In quotes, because an id may look like a number. */
function quoted(text: string): string {
  return stringify(text, { defaultStringType: 'QUOTE_DOUBLE' }).trim();
}
