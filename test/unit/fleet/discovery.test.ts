import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListingSettings } from '../../../src/domain/discovery.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { Discovery } from '../../../src/fleet/discovery.ts';
import type { ListingQuery } from '../../../src/panel/api.ts';
import type { ListedServer, ListingPage } from '../../../src/panel/decode-listing.ts';
import { listed } from '../../support/listed.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const MINUTE = 60_000;
const RULES = { include: {}, exclude: {}, expect: [], labels: {}, mode: 'auto' } as const;
const SETTINGS: ListingSettings = { type: 'owner', intervalMs: 5 * MINUTE, discover: RULES };

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let asked: (ListingQuery & { readonly urgent: boolean })[];
let pages: (readonly ListedServer[] | Error)[];
let answer: (query: ListingQuery, signal: AbortSignal) => Promise<ListingPage>;
let found: (readonly ServerTarget[])[];
let perMinute: number;
let discovery: Discovery;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  asked = [];
  found = [];
  perMinute = 240;
  pages = [[listed(1), listed(2)], [listed(3)]];
  answer = ({ page }) => {
    const servers = pages[page - 1] ?? [];
    if (servers instanceof Error) return Promise.reject(servers);
    return Promise.resolve({ servers, totalPages: pages.length, badEntries: 0 });
  };
  discovery = new Discovery({
    panel: 'main',
    clock,
    log,
    listing: (query, signal, urgent) => {
      asked.push({ ...query, urgent });
      return answer(query, signal);
    },
    callsPerMinute: () => perMinute,
    isOurs: () => true,
    found: (targets) => found.push(targets),
  });
});

afterEach(() => discovery.stop());

const names = () => (found.at(-1) ?? []).map(({ name }) => name);

async function start(settings: ListingSettings | undefined = SETTINGS, configured: ServerTarget[] = []) {
  discovery.configure(configured, settings);
  discovery.start();
  await clock.advance(0);
}

describe('the walks', () => {
  it('read every page of the wanted servers, the first time before all connects', async () => {
    await start();
    expect(asked).toEqual([
      { page: 1, perPage: 100, type: 'owner', urgent: true },
      { page: 2, perPage: 100, type: 'owner', urgent: true },
    ]);
    expect(names()).toEqual(['server-1', 'server-2', 'server-3']);
    await clock.advance(5 * MINUTE);
    expect(asked.slice(2)).toEqual([
      { page: 1, perPage: 100, type: 'owner', urgent: false },
      { page: 2, perPage: 100, type: 'owner', urgent: false },
    ]);
  });

  it('are repeated within a minute where a server was missing, before it is given up', async () => {
    await start();
    pages[1] = [];
    await clock.advance(5 * MINUTE);
    expect(names()).toContain('server-3');
    await clock.advance(MINUTE);
    expect(names()).toEqual(['server-1', 'server-2']);
  });

  it('go on after a page that fails, and are repeated within a minute', async () => {
    pages = [[listed(1)], new Error('no answer'), [listed(3)]];
    await start();
    expect(names()).toEqual(['server-1', 'server-3']);
    expect(discovery.reading).toMatchObject({ servers: 2, succeededUnixMs: undefined, failures: 1 });
    pages[1] = [listed(2)];
    await clock.advance(MINUTE);
    expect(names()).toEqual(['server-1', 'server-2', 'server-3']);
    expect(discovery.reading?.succeededUnixMs).toBe(clock.toUnixMs(clock.now()));
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('give up after two pages that fail', async () => {
    pages = [[listed(1)], new Error('one'), new Error('two'), [listed(4)]];
    await start();
    expect(asked).toHaveLength(3);
    expect(names()).toEqual(['server-1']);
  });

  it('take an entry that names no server for a failure, so that none is given up for it', async () => {
    await start();
    pages = [[listed(1), listed(2, { uuid: 'nonsense' })], [listed(3)]];
    await clock.advance(20 * MINUTE);
    expect(names()).toEqual(['server-1', 'server-2', 'server-3']);
    expect(discovery.reading?.failures).toBeGreaterThan(2);
  });

  it('are fewer where the listing is long and the budget small', async () => {
    pages = Array.from({ length: 40 }, (_, n) => [listed(n)]);
    perMinute = 40;
    await start();
    await clock.advance(9 * MINUTE);
    expect(asked).toHaveLength(40);
    expect(discovery.callsPerMinute).toBeCloseTo(4);
    await clock.advance(MINUTE);
    expect(asked).toHaveLength(80);
  });

  it('end with a stop', async () => {
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

  it('with a name are there at once, others once the listing named them', async () => {
    discovery.configure([named, unnamed], SETTINGS);
    expect(discovery.targets).toEqual([named]);
    discovery.start();
    await clock.advance(0);
    expect(names()).toEqual(['mine', 'server-2', 'server-3']);
  });

  it('wait half a minute for their names, and are observed by their ids then', async () => {
    answer = () => new Promise(() => {});
    await start(SETTINGS, [unnamed]);
    await clock.advance(29_000);
    expect(found).toEqual([]);
    await clock.advance(1_000);
    expect(names()).toEqual(['00000002']);
  });

  it('are all there at once where nothing is discovered', () => {
    discovery.configure([unnamed], { intervalMs: MINUTE });
    expect(discovery.targets).toEqual([unnamed]);
    discovery.configure([unnamed], undefined);
    expect(discovery.targets).toEqual([unnamed]);
    expect(discovery.reading).toBeUndefined();
  });
});

describe('another configuration', () => {
  it('with other rules brings those that fit at once, and reads the listing again', async () => {
    await start();
    const rules = { ...RULES, exclude: { name: ['server-2'] } };
    const targets = discovery.configure([], { ...SETTINGS, discover: rules });
    expect(targets.map(({ name }) => name)).toEqual(['server-1', 'server-3']);
    await clock.advance(0);
    expect(asked).toHaveLength(4);
  });

  it('that is the same costs no call', async () => {
    await start();
    discovery.configure([target()], { ...SETTINGS });
    await clock.advance(MINUTE);
    expect(asked).toHaveLength(2);
  });

  it('that begins to discover does not send away servers that are observed by their ids', async () => {
    const unnamed = target({ id: '00000002', name: '00000002' });
    await start(undefined, [unnamed]);
    discovery.stop();
    discovery.configure([unnamed], undefined);
    discovery.start();
    expect(discovery.configure([unnamed], SETTINGS)).toEqual([unnamed]);
  });

  it('without discovery leaves the configured servers', async () => {
    await start();
    expect(discovery.configure([target()], undefined)).toEqual([target()]);
    await clock.advance(60 * MINUTE);
    expect(asked).toHaveLength(2);
  });
});
