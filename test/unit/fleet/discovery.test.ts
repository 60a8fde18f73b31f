import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { AT_ONCE } from '../../../src/domain/clock.ts';
import type { DiscoverRules, ListingSettings } from '../../../src/domain/listing-settings.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { Discovery, type DiscoveryOptions } from '../../../src/fleet/discovery.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import type { ListingQuery } from '../../../src/panel/requests.ts';
import type { ListedServer, ListingPage } from '../../../src/panel/responses.ts';
import { eventually } from '../../support/eventually.ts';
import { listed, uuidOf } from '../../support/listed.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { READ_AT } from '../../support/readings.ts';
import { target } from '../../support/targets.ts';

const MINUTE = 60_000;
const RULES = { include: {}, exclude: {}, expect: [], labels: [], mode: 'auto', maxServers: 100 } as const;
const SETTINGS: ListingSettings = { type: 'owner', intervalMs: 5 * MINUTE, discover: RULES };

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
/** All queries, and the milliseconds within which each needs its response. */
let asked: (ListingQuery & { readonly within: number })[];
let pages: (readonly ListedServer[] | Error)[];
let answer: (query: ListingQuery, signal: AbortSignal) => Promise<ListingPage>;
let found: (readonly ServerTarget[])[];
let perMinute: number;
let isPanelUp: boolean;
let isOurs: DiscoveryOptions['isOurs'];
let discovery: Discovery;

const BUDGET = { isPinned: false, usedLastMinute: 0, queueLength: 0, paused: false };

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  asked = [];
  found = [];
  perMinute = 240;
  isPanelUp = true;
  isOurs = () => true;
  pages = [[listed(1), listed(2)], [listed(3)]];
  answer = ({ page, type }) => {
    // This list of a panel is empty for users who aren't administrators.
    if (type === 'admin-all') {
      return Promise.resolve({ servers: [], totalPages: 1, badEntries: 0 });
    }
    const servers = pages[page - 1] ?? [];
    if (servers instanceof Error) return Promise.reject(servers);
    return Promise.resolve({ servers, totalPages: pages.length, badEntries: 0 });
  };
  discovery = new Discovery({
    panel: 'main',
    clock,
    log,
    gateway: {
      listing: (query, deadline, signal) => {
        asked.push({ ...query, within: deadline - clock.now() });
        return answer(query, signal);
      },
      get health() {
        return isPanelUp ? ('up' as const) : ('down' as const);
      },
      budget: () => ({ ...BUDGET, limitPerMinute: perMinute }),
    },
    notFound: () => new Set(),
    isOurs: (server) => isOurs(server),
    found: (targets) => found.push(targets),
  });
});

afterEach(() => discovery.stop());

const linesOf = (level: string) =>
  log.lines.filter((line) => line.level === level).map(({ message }) => message);
const names = () => (found.at(-1) ?? []).map(({ name }) => name);

async function start(settings: ListingSettings | undefined = SETTINGS, configured: ServerTarget[] = []) {
  discovery.configure(configured, settings);
  discovery.start();
  await clock.advance(0);
}

describe('the walks', () => {
  it('need all their pages by the same time, so that a slow panel does not double the wait', async () => {
    await start();
    const answerAtOnce = answer;
    answer = async (query, signal) => {
      await new Promise<void>((resolve) => clock.schedule(MINUTE, resolve));
      return answerAtOnce(query, signal);
    };
    await clock.advance(7 * MINUTE);
    expect(asked.slice(2).map(({ within }) => within)).toEqual([5 * MINUTE, 4 * MINUTE]);
  });

  it('read every page of the requested type, and the first walk comes before all connects', async () => {
    await start();
    expect(asked).toEqual([
      { page: 1, perPage: 100, type: 'owner', within: AT_ONCE },
      { page: 2, perPage: 100, type: 'owner', within: AT_ONCE },
    ]);
    expect(names()).toEqual(['server-1', 'server-2', 'server-3']);
    await clock.advance(5 * MINUTE);
    expect(asked.slice(2)).toEqual([
      { page: 1, perPage: 100, type: 'owner', within: 5 * MINUTE },
      { page: 2, perPage: 100, type: 'owner', within: 5 * MINUTE },
    ]);
  });

  it('come at once after a server was deleted, and at most once a minute however many are', async () => {
    await start();
    await clock.advance(2 * MINUTE);
    expect(asked).toHaveLength(2);
    for (let deleted = 0; deleted < 100; deleted += 1) discovery.serverDeleted();
    await clock.advance(0);
    expect(asked.slice(2).map(({ within }) => within)).toEqual([MINUTE, MINUTE]);
    for (let deleted = 0; deleted < 100; deleted += 1) {
      await clock.advance(500);
      discovery.serverDeleted();
    }
    expect(asked).toHaveLength(4);
    await clock.advance(10_000);
    expect(asked).toHaveLength(6);
    await clock.advance(5 * MINUTE);
    expect(asked).toHaveLength(8);
  });

  it('come again soon if a server is deleted while they read the list', async () => {
    const answerAtOnce = answer;
    answer = async (query, signal) => {
      await new Promise<void>((resolve) => clock.schedule(1_000, resolve));
      return answerAtOnce(query, signal);
    };
    await start();
    await clock.advance(1_500);
    discovery.serverDeleted();
    await clock.advance(2 * MINUTE);
    expect(asked).toHaveLength(4);
  });

  const failedPage = new PanelError(
    { cause: 'panel_error', detail: 'GET /api/client returned 500' },
    { status: 500 },
  );

  it.each<[string, (readonly ListedServer[] | Error)[], ServerTarget[], string]>([
    ['no servers are known', [failedPage], [], 'server list unavailable: no servers known yet'],
    ['a page was read', [[listed(1)], failedPage], [], 'server list incomplete: keeping the known servers'],
    ['servers are configured', [failedPage], [target()], 'server list incomplete: keeping the known servers'],
  ])(
    'that fail are logged once with what is monitored meanwhile, if %s',
    async (_what, answers, own, words) => {
      pages = answers;
      await start(SETTINGS, own);
      await clock.advance(5 * MINUTE);
      expect(linesOf('warn')).toEqual([`panel main: ${words}; last error: GET /api/client returned 500`]);
    },
  );

  it('are repeated within a minute if a server is missing, before the server is removed', async () => {
    await start();
    pages[1] = [];
    await clock.advance(5 * MINUTE);
    expect(names()).toContain('server-3');
    await clock.advance(MINUTE);
    expect(names()).toContain('server-3');
    await clock.advance(MINUTE);
    expect(names()).toEqual(['server-1', 'server-2']);
  });

  it('skip an entry without a valid UUID: it counts as a failure, but causes no extra walks', async () => {
    await start();
    pages = [[listed(1), listed(2, { uuid: 'nonsense' })], []];
    await clock.advance(20 * MINUTE);
    // The short id of the entry still identifies the server.
    expect(names()).toEqual(['server-1', 'server-2']);
    const { failures = 0, succeededUnixMs } = discovery.reading ?? {};
    expect(failures).toBeGreaterThan(2);
    expect(succeededUnixMs).toBeGreaterThan(clock.toUnixMs(clock.now() - 5 * MINUTE));
    const walks = asked.length / 2;
    await clock.advance(50 * MINUTE);
    expect(asked.length / 2 - walks).toBe(10);
    expect(linesOf('warn')).toHaveLength(1);
  });

  it('are less frequent if the server list is long and the budget small', async () => {
    pages = Array.from({ length: 40 }, (_, n) => [listed(n)]);
    perMinute = 40;
    await start();
    await clock.advance(9 * MINUTE);
    expect(asked).toHaveLength(40);
    expect(discovery.callsPerMinute).toBeCloseTo(4);
    await clock.advance(MINUTE);
    expect(asked).toHaveLength(80);
  });

  it('end when discovery is stopped', async () => {
    let withdrawn = false;
    answer = (_query, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          withdrawn = true;
          reject(signal.reason as Error);
        });
      });
    await start();
    discovery.stop();
    await clock.advance(60 * MINUTE);
    expect(withdrawn).toBe(true);
    expect(asked).toHaveLength(1);
    expect(found).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('configured servers', () => {
  const named = target({ id: '00000001', name: 'mine' });
  const unnamed = target({ id: '00000002', name: '00000002' });

  it('with a name are monitored immediately, others after the server list provides their names', async () => {
    expect(discovery.configure([named, unnamed], SETTINGS)).toEqual([named]);
    discovery.start();
    await clock.advance(0);
    expect(names()).toEqual(['mine', 'server-2', 'server-3']);
  });

  it('wait up to half a minute for their names, and are then monitored by their ids', async () => {
    answer = () => new Promise(() => {});
    await start(SETTINGS, [unnamed]);
    await clock.advance(29_000);
    expect(found).toEqual([]);
    await clock.advance(1_000);
    expect(names()).toEqual(['00000002']);
  });

  it('are all monitored immediately if nothing is discovered', () => {
    expect(discovery.configure([unnamed], { intervalMs: MINUTE })).toEqual([unnamed]);
    expect(discovery.configure([unnamed], undefined)).toEqual([unnamed]);
    expect(discovery.reading).toBeUndefined();
  });
});

describe('the first reading of the server list', () => {
  it.each([
    ['with rules', SETTINGS],
    ['for data of configured servers', { intervalMs: 5 * MINUTE }],
  ])('is pending until it ends, %s', async (_what, settings) => {
    discovery.configure([target()], settings);
    expect(discovery.reading?.isPending).toBe(true);
    discovery.start();
    expect(discovery.reading?.isPending).toBe(true);
    await clock.advance(0);
    expect(discovery.reading?.isPending).toBe(false);
    discovery.restart();
    expect(discovery.reading?.isPending).toBe(false);
  });

  it('is pending for at most half a minute', async () => {
    answer = () => new Promise(() => {});
    await start();
    await clock.advance(29_999);
    expect(discovery.reading?.isPending).toBe(true);
    await clock.advance(1);
    expect(discovery.reading?.isPending).toBe(false);
  });

  it('is not pending after a failure', async () => {
    pages = [new Error('refused')];
    await start();
    expect(discovery.reading?.isPending).toBe(false);
  });
});

describe('more servers than max_servers', () => {
  const limited = (maxServers: number, changes: Partial<DiscoverRules> = {}): ListingSettings => ({
    ...SETTINGS,
    discover: { ...RULES, maxServers, ...changes },
  });

  it('are left out in the order of their UUIDs, and reported once with their number and the first names', async () => {
    pages = [
      [listed(5), listed(3)],
      [listed(1), listed(4), listed(2)],
    ];
    await start(limited(2));
    expect(names()).toEqual(['server-1', 'server-2']);
    expect(discovery.reading).toMatchObject({ servers: 2, leftOut: 3 });
    expect(discovery.problems).toEqual([
      {
        cause: 'listing_too_long',
        detail: '3 servers not monitored (beyond `max_servers: 2`): server-3, server-4, server-5',
        since: READ_AT,
      },
    ]);
    await clock.advance(30 * MINUTE);
    expect(linesOf('warn')).toEqual([
      expect.stringContaining(
        'panel main: server list too long: 3 servers not monitored (beyond `max_servers: 2`)',
      ),
    ]);
  });

  it('are added immediately when the setting is raised, and removed when it is lowered', async () => {
    pages = [[listed(3), listed(1), listed(2)]];
    await start(limited(2));
    discovery.configure([], limited(3));
    await clock.advance(0);
    expect(names()).toEqual(['server-1', 'server-2', 'server-3']);
    expect(discovery.problems).toEqual([]);
    expect(log.lines.at(-1)?.message).toBe('panel main: every listed server is monitored again');
    expect(discovery.configure([], limited(1)).map(({ name }) => name)).toEqual(['server-1']);
    await clock.advance(0);
    expect(names()).toEqual(['server-1']);
    expect(discovery.reading?.leftOut).toBe(2);
  });

  it('do not include configured or excluded servers, or servers of other shards', async () => {
    pages = [[1, 2, 3, 4, 5, 6].map((n) => listed(n))];
    isOurs = ({ id }) => !id.startsWith('00000002');
    const configured = target({ id: '00000001', name: 'mine' });
    await start(limited(2, { exclude: { name: ['server-3', 'server-4'] } }), [configured]);
    expect(names()).toEqual(['mine', 'server-5', 'server-6']);
    expect(discovery.reading?.leftOut).toBe(0);
  });
});

describe('an empty server list', () => {
  const empty = (since: number) => ({
    cause: 'nothing_listed',
    detail: 'the server list is empty',
    since,
  });
  const lines = () => log.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message);

  it('is a problem until it contains a server, and is logged when it begins and ends', async () => {
    pages = [[]];
    await start();
    expect(discovery.problems).toEqual([empty(READ_AT)]);
    await clock.advance(20 * MINUTE);
    expect(discovery.problems).toEqual([empty(READ_AT)]);
    expect(lines()).toEqual([
      `panel main: ${CAUSES.nothing_listed.title}: the server list is empty. ${CAUSES.nothing_listed.remedy}`,
    ]);
    pages = [[listed(1)]];
    await clock.advance(5 * MINUTE);
    expect(discovery.problems).toEqual([]);
    expect(lines().slice(1)).toEqual(['panel main: servers are discovered again']);
  });

  it('is a problem as well if the rules exclude all of its servers', async () => {
    pages = [[listed(1), listed(2)]];
    const settings = { ...SETTINGS, discover: { ...RULES, exclude: { name: ['server-*'] } } };
    await start(settings);
    expect(discovery.problems).toEqual([
      { cause: 'all_excluded', detail: '`discover` excludes all 2 listed servers', since: READ_AT },
    ]);
    expect(lines()).toEqual([
      expect.stringMatching(/^panel main: all servers excluded: `discover` excludes all 2 listed servers\./),
    ]);
    pages = [[listed(1), listed(3, { name: 'survival' })]];
    await clock.advance(5 * MINUTE);
    expect(discovery.problems).toEqual([]);
    expect(lines().slice(1)).toEqual(['panel main: servers are discovered again']);
  });

  it('keeps the servers for half an hour, and so does one without most of them, which is logged once', async () => {
    await start();
    pages = [[]];
    await clock.advance(34 * MINUTE);
    expect(names()).toEqual(['server-1', 'server-2', 'server-3']);
    expect(discovery.problems).toEqual([empty(READ_AT + 5 * MINUTE)]);
    expect(lines().filter((line) => line.includes('30 min'))).toEqual([
      'panel main: the server list lacks more than half of the known servers: keeping them for 30 min',
    ]);
    await clock.advance(4 * MINUTE);
    expect(names()).toEqual([]);
  });

  it('of another type replaces the servers of before after three walks', async () => {
    await start();
    pages = [[listed(9)]];
    discovery.configure([], { ...SETTINGS, type: 'admin' });
    await clock.advance(2 * MINUTE);
    expect(names()).toEqual(['server-9']);
  });

  it('is no problem any more once nothing is discovered', async () => {
    pages = [[]];
    await start();
    discovery.configure([target()], { intervalMs: 5 * MINUTE });
    expect(discovery.problems).toEqual([]);
    await clock.advance(0);
    expect(lines()).not.toContain('panel main: servers are discovered again');
  });
});

describe('a server that the server list shows as suspended', () => {
  const blocked = () => (found.at(-1) ?? []).map((server) => server.blocked);

  it('is checked with its own calls once the server list has failed and is five minutes old, until it is read again', async () => {
    pages = [[listed(1, { blocked: 'suspended' }), listed(2)]];
    await start();
    await clock.advance(5 * MINUTE);
    expect(blocked()).toEqual(['suspended', undefined]);
    pages = [new Error('no response')];
    await clock.advance(6 * MINUTE);
    expect(names()).toEqual(['server-1', 'server-2']);
    expect(blocked()).toEqual([undefined, undefined]);
    pages = [[listed(1, { blocked: 'suspended' }), listed(2)]];
    await clock.advance(MINUTE);
    expect(blocked()).toEqual(['suspended', undefined]);
  });

  it('is not called before the list is as old as the interval, if that is longer', async () => {
    pages = [[listed(1, { blocked: 'suspended' })]];
    await start({ ...SETTINGS, intervalMs: 10 * MINUTE });
    pages = [new Error('no response')];
    await clock.advance(10 * MINUTE);
    expect(blocked()).toEqual(['suspended']);
    await clock.advance(MINUTE);
    expect(blocked()).toEqual([undefined]);
  });
});

it('shows the servers of the latest server list, as another array', async () => {
  pages = [[listed(1)]];
  await start();
  const before = discovery.listed;
  expect(before).toEqual([listed(1)]);
  pages = [[listed(1), listed(2)]];
  await clock.advance(5 * MINUTE);
  expect(discovery.listed).toEqual([listed(1), listed(2)]);
  expect(discovery.listed).not.toBe(before);
});

it('gives a server that is listed as before the same object, configured or discovered, and a changed one another', async () => {
  const configured = target({ id: uuidOf(1), uuid: uuidOf(1), name: 'own' });
  pages = [[listed(1), listed(2), listed(3)]];
  await start(SETTINGS, [configured]);
  pages = [[listed(1), listed(2, { node: 'moved' }), listed(3)]];
  await clock.advance(5 * MINUTE);
  const [before = [], after = []] = found;
  expect(after.map(({ node }) => node)).toEqual([before[0]?.node, 'moved', before[2]?.node]);
  expect(after.map((server, index) => server === before[index])).toEqual([true, false, true]);
  pages = [[listed(1, { node: 'moved' }), listed(2, { node: 'moved' }), listed(3)]];
  await clock.advance(5 * MINUTE);
  expect(found.at(-1)?.map((server, index) => server === after[index])).toEqual([false, true, true]);
});

it('does not ask again whether a server that is listed as before belongs to this shard', async () => {
  const asks: string[] = [];
  isOurs = ({ name }) => {
    asks.push(name);
    return true;
  };
  pages = [[listed(1), listed(2)]];
  await start();
  const atFirst = asks.length;
  expect(new Set(asks)).toEqual(new Set(['server-1', 'server-2']));
  await clock.advance(5 * MINUTE);
  expect(found).toHaveLength(2);
  expect(asks).toHaveLength(atFirst);
});

it('publishes a long list, which takes several turns, and nothing of a walk that ended meanwhile', async () => {
  const many = Array.from({ length: 1_500 }, (_, index) => listed(index + 1));
  pages = [many];
  await start({ ...SETTINGS, discover: { ...RULES, maxServers: 2_000 } });
  await eventually(() => expect(found.at(-1)).toHaveLength(1_500));
  const before = found.length;
  discovery.restart();
  discovery.stop();
  await clock.advance(MINUTE);
  expect(found).toHaveLength(before);
});

describe('servers with the same identifier', () => {
  const twin = (n: number, name: string, end: string) =>
    listed(n, { name, uuid: `${uuidOf(n).slice(0, -1)}${end}` });

  it('are reported once by name, in the log, as a problem and as a number', async () => {
    pages = [[twin(1, 'second', 'b'), twin(1, 'first', 'a'), listed(2)]];
    await start();
    expect(names()).toEqual(['first', 'server-2']);
    expect(discovery.reading).toMatchObject({ servers: 2, ambiguous: 1 });
    const detail = `1 server not monitored (another UUID begins with the same 8 characters): second (${uuidOf(1).slice(0, -1)}b)`;
    expect(discovery.problems).toEqual([{ cause: 'same_identifier', detail, since: READ_AT }]);
    await clock.advance(30 * MINUTE);
    expect(linesOf('warn')).toEqual([expect.stringContaining(`duplicate server identifiers: ${detail}`)]);
    pages = [[twin(1, 'second', 'b'), listed(2)]];
    await clock.advance(8 * MINUTE);
    expect(names()).toEqual(['second', 'server-2']);
    expect(discovery.problems).toEqual([]);
    expect(log.lines.map(({ message }) => message)).toContain(
      'panel main: server identifiers are unique again',
    );
  });
});

describe('a server list that only adds data to configured servers', () => {
  const FACTS: ListingSettings = { intervalMs: 5 * MINUTE };
  const configured = [target({ id: '00000001', name: 'mine' }), target({ id: 'ffffffff', name: 'unlisted' })];
  const refused = (status: number) =>
    new PanelError({ cause: 'key_refused', detail: `GET /api/client returned ${status}` }, { status });

  it('adds limits, and leaves an unlisted server unchanged', async () => {
    pages = [[listed(1, { limits: { cpuCores: 2 } }), listed(2)]];
    await start(FACTS, configured);
    expect(found.at(-1)).toEqual([expect.objectContaining({ limits: { cpuCores: 2 } }), configured[1]]);
    await clock.advance(30 * MINUTE);
    expect(found.at(-1)?.[1]).toEqual(configured[1]);
    expect(linesOf('warn')).toEqual([
      "panel main: 1 of 2 configured servers are not in the account's server list: unlisted. Only configured limits are known of these. Check their ids, or add the account to them.",
    ]);
  });

  it.each([401, 403, 404])(
    'that is rejected with %i is retried every five minutes, with one line in the log',
    async (status) => {
      pages = [refused(status)];
      await start(FACTS, configured);
      await clock.advance(30 * MINUTE);
      expect(asked).toHaveLength(7);
      expect(linesOf('warn')).toEqual([
        `panel main: server list rejected: node, egg and limits are unknown, except for configured limits; set \`limits_from_listing: false\` to stop retrying; last error: GET /api/client returned ${status}`,
      ]);
      expect(found.at(-1)).toEqual(configured);
      expect(discovery.problems).toEqual([]);
      pages = [[listed(1, { limits: { cpuCores: 2 } })]];
      await clock.advance(5 * MINUTE);
      expect(found.at(-1)?.[0]?.limits).toEqual({ cpuCores: 2 });
      expect(linesOf('info')).toContain('panel main: server list available again');
    },
  );

  it('that fails is not logged before the panel is known to work, and is retried within a minute', async () => {
    isPanelUp = false;
    pages = [refused(401)];
    await start(FACTS, configured);
    await clock.advance(MINUTE);
    expect(asked).toHaveLength(2);
    expect(log.lines).toEqual([]);
    isPanelUp = true;
    await clock.advance(MINUTE);
    expect(linesOf('warn')).toHaveLength(1);
  });

  it('gives connects priority over its remaining pages, however many there are', async () => {
    pages = Array.from({ length: 40 }, (_, n) => [listed(n)]);
    await start(FACTS, configured);
    const others = Array.from({ length: 39 }, () => FACTS.intervalMs);
    const own = asked.filter(({ type }) => type === undefined);
    expect(own.map(({ within }) => within)).toEqual([AT_ONCE, ...others]);
  });

  it("is the panel's whole server list if the key is an administrator's who lacks a configured server", async () => {
    answer = ({ type }) => {
      const servers = type === 'admin-all' ? [listed(1), listed(2, { blocked: 'installing' })] : [listed(1)];
      return Promise.resolve({ servers, totalPages: 1, badEntries: 0 });
    };
    await start(FACTS, [target({ id: '00000001' }), target({ id: '00000002' })]);
    expect(asked.map(({ type }) => type)).toEqual([undefined, 'admin-all']);
    expect(found.at(-1)).toMatchObject([{ uuid: uuidOf(1) }, { uuid: uuidOf(2), blocked: 'installing' }]);
    await clock.advance(5 * MINUTE);
    expect(asked.map(({ type }) => type)).toEqual([undefined, 'admin-all', 'admin-all']);
    expect(linesOf('info')).toEqual([]);
  });

  it("is requested once if nothing shows that the key is an administrator's, and again with another key", async () => {
    pages = [[listed(1)]];
    await start(FACTS, configured);
    await clock.advance(20 * MINUTE);
    expect(asked.filter(({ type }) => type === 'admin-all')).toHaveLength(1);
    discovery.restart();
    await clock.advance(0);
    expect(asked.filter(({ type }) => type === 'admin-all')).toHaveLength(2);
  });

  it("is the account's own if that has every configured server", async () => {
    await start(FACTS, [target({ id: '00000001' })]);
    expect(asked.map(({ type }) => type)).not.toContain('admin-all');
  });

  it.each([
    ['few servers', 2, 40, 1],
    ['few servers and a small budget', 2, 5, 0.5],
    ['as many servers as it has entries for', 1_000, 10, 2],
    ['one page', 2, 1, 0.2],
  ])(
    'costs one call a minute, or what the configured servers need: %s',
    async (_what, servers, length, calls) => {
      if (calls === 0.5) perMinute = 5;
      pages = Array.from({ length }, (_, n) => [listed(n)]);
      const many = Array.from({ length: servers }, (_, n) => target({ id: uuidOf(n).slice(0, 8) }));
      await start(FACTS, many);
      expect(discovery.callsPerMinute).toBeCloseTo(calls);
      await clock.advance(120 * MINUTE);
      const own = asked.filter(({ type }) => type === undefined);
      expect(own.length - length).toBeLessThanOrEqual(120 * calls);
      expect(own.length - length).toBeGreaterThanOrEqual(120 * calls - length);
    },
  );
});

describe('a configuration change', () => {
  it('of the rules applies immediately, and the server list is read again', async () => {
    await start();
    const rules = { ...RULES, exclude: { name: ['server-2'] } };
    const targets = discovery.configure([], { ...SETTINGS, discover: rules });
    expect(targets.map(({ name }) => name)).toEqual(['server-1', 'server-3']);
    await clock.advance(0);
    expect(asked).toHaveLength(4);
  });

  it('without differences costs no call', async () => {
    await start();
    discovery.configure([target()], { ...SETTINGS });
    await clock.advance(MINUTE);
    expect(asked).toHaveLength(2);
  });

  it('that enables discovery keeps servers that are monitored by their ids', async () => {
    const unnamed = target({ id: '00000002', name: '00000002' });
    await start(undefined, [unnamed]);
    discovery.stop();
    discovery.configure([unnamed], undefined);
    discovery.start();
    expect(discovery.configure([unnamed], SETTINGS)).toEqual([unnamed]);
  });

  it('that leaves configured servers to discovery keeps them until the server list is read', async () => {
    const [kept, gone] = [target({ id: '00000002', name: 'two' }), target({ id: '00000009', name: 'nine' })];
    discovery.configure([kept, gone], undefined);
    discovery.start();
    pages = [new Error('no response')];
    expect(discovery.configure([], SETTINGS)).toEqual([kept, gone]);
    await clock.advance(0);
    expect(names()).toEqual(['two', 'nine']);
    pages = [[listed(1), listed(2)]];
    await clock.advance(MINUTE);
    expect(names()).toEqual(['server-1', 'server-2']);
  });

  it('that disables discovery keeps the configured servers', async () => {
    await start();
    expect(discovery.configure([target()], undefined)).toEqual([target()]);
    await clock.advance(60 * MINUTE);
    expect(asked).toHaveLength(2);
  });
});
