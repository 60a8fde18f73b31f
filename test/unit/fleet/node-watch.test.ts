import { beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import type { NodeCapacity } from '../../../src/domain/reading.ts';
import { NodeWatch } from '../../../src/fleet/node-watch.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { Secret } from '../../../src/text/redaction.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MINUTE = 60_000;
const SETTINGS = { apiKey: new Secret('ptla_first'), intervalMs: 5 * MINUTE };

const node = (name: string, memory_bytes = 1): NodeCapacity => ({
  name,
  memory_bytes,
  maintenance: 0,
});

let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
let watch: NodeWatch;
/** The nodes on each page. */
let pages: readonly (readonly NodeCapacity[])[];
let problem: Problem | undefined;
let asked: { readonly key: string; readonly page: number; readonly at: number }[];
let open: number;

beforeEach(() => {
  clock = new ManualClock();
  log = collectingLogger();
  pages = [[node('one')]];
  problem = undefined;
  asked = [];
  open = 0;
  watch = new NodeWatch({
    panel: 'main',
    clock,
    log,
    openNodes: (apiKey) => {
      open += 1;
      return {
        get: (_, { page = 1 }) => {
          asked.push({ key: apiKey.reveal(), page, at: clock.now() });
          if (problem !== undefined) return Promise.reject(new PanelError(problem));
          return Promise.resolve({
            value: { nodes: pages[page - 1] ?? [], totalPages: pages.length } as never,
          });
        },
        close: () => {
          open -= 1;
          return Promise.resolve();
        },
      };
    },
  });
});

const read = () => watch.reading(clock.now()).map(({ name }) => name);

async function start(): Promise<void> {
  watch.configure(SETTINGS);
  await clock.advance(1);
}

describe('the nodes', () => {
  it('are not read without settings', async () => {
    watch.configure(undefined);
    await clock.advance(60 * MINUTE);
    expect([asked, open]).toEqual([[], 0]);
  });

  it('are read at once, page by page, and then once per interval', async () => {
    pages = [[node('one')], [node('two')]];
    await start();
    expect(read()).toEqual(['one', 'two']);
    await clock.advance(10 * MINUTE);
    expect(asked.map(({ page }) => page)).toEqual([1, 2, 1, 2, 1, 2]);
  });

  it('have at most 20 pages', async () => {
    pages = Array.from({ length: 30 }, () => []);
    await start();
    expect(asked).toHaveLength(20);
  });

  it('have a name once, without characters that a label should not have', async () => {
    pages = [[node('one', 1), node('one', 2), node('t\u0000wo', 3)]];
    await start();
    expect(watch.reading(clock.now()).map(({ name, memory_bytes }) => [name, memory_bytes])).toEqual([
      ['one', 1],
      ['t wo', 3],
    ]);
  });

  it('stay for two and a half intervals while reading fails', async () => {
    await start();
    problem = { cause: 'timeout', detail: 'no response' };
    await clock.advance(12 * MINUTE);
    expect(read()).toEqual(['one']);
    await clock.advance(MINUTE);
    expect(read()).toEqual([]);
  });

  it('are forgotten when they are no longer needed', async () => {
    await start();
    watch.configure(undefined);
    expect([read(), open]).toEqual([[], 0]);
  });
});

describe('a failure', () => {
  it('is logged once, with what to do, and so is its end', async () => {
    problem = { cause: 'forbidden', detail: 'returned 403' };
    await start();
    await clock.advance(20 * MINUTE);
    problem = undefined;
    await clock.advance(10 * MINUTE);
    expect(log.lines.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^panel main: list of nodes unavailable: returned 403; the key in `nodes.api_key_file` needs/,
      ),
      'panel main: list of nodes available again',
    ]);
  });

  it('that includes how long to wait is obeyed', async () => {
    problem = { cause: 'rate_limited', detail: 'returned 429', retryAfterMs: 8 * MINUTE };
    await start();
    await clock.advance(8 * MINUTE - 2);
    expect(asked).toHaveLength(1);
    await clock.advance(2);
    expect(asked).toHaveLength(2);
  });
});

describe('new settings', () => {
  it('are applied at once, with the new key', async () => {
    await start();
    watch.configure({ ...SETTINGS, apiKey: new Secret('ptla_second') });
    await clock.advance(1);
    expect([asked.map(({ key }) => key), open]).toEqual([['ptla_first', 'ptla_second'], 1]);
  });

  it('that are the same change nothing', async () => {
    await start();
    watch.configure({ ...SETTINGS, apiKey: new Secret('ptla_first') });
    await clock.advance(1);
    expect(asked).toHaveLength(1);
  });
});
