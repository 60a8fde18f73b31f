import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { STOP_REASONS } from '../../../../src/domain/stops.ts';
import { judgeServer, VERDICT_CODES } from '../../../../src/status-page/browser/traits.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, serverReading, streamingReading } from '../../../support/readings.ts';
import { crash, NOW, running } from '../../../support/urgent-fleet.ts';
import { PageWindow } from './page-window.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const OFF = { state: 'offline', start_time_seconds: undefined } as const;
const ORIGIN = { problem: { cause: 'origin', detail: '' } } as const;
const SUSPENDED = { problem: { cause: 'suspended', detail: '' } } as const;

describe('the verdict on a server', () => {
  it.each<[string, ServerReadingChanges, string | undefined]>([
    ['that is well', {}, undefined],
    ['that is off', OFF, 'down'],
    ['that is allowed to be off', { ...OFF, expected_running: 0 }, undefined],
    ['of which nothing shows whether it should run', { ...OFF, expected_running: undefined }, 'unclear'],
    ['with a full disk', { disk_usage_bytes: 1, disk_limit_bytes: 1 }, 'warning'],
    ['without data', { state: 'unknown', collection_up: 0 }, 'no_data'],
    ['that is polled because its socket fails', { ...ORIGIN, condition: 'polling' }, 'minor'],
    ['that crashed and runs again', { unwanted_stops: [crash(60, 1)] }, 'crashed'],
    ['that runs though it is suspended', SUSPENDED, 'note'],
    [
      'that is suspended',
      { ...SUSPENDED, state: 'unknown', collection_up: 0, condition: 'blocked', blocked: 'suspended' },
      undefined,
    ],
  ])('%s', (_, changes, expected) => {
    const [server] = shownFleet([streamingReading(changes)]).servers;
    expect(server && judgeServer(server)).toBe(expected);
  });
});

const maybe = <Value>(value: Value) => fc.constantFrom(undefined, value);
const stop = fc.record({
  reason: fc.constantFrom(...STOP_REASONS),
  timestamp_seconds: fc.constantFrom(NOW - 60, NOW - 1_000),
});

interface Known extends ServerReadingChanges {
  readonly isSuspended: boolean;
}

/** The reading of a server with this data, in the form of a record. */
function readingChanges({ isSuspended, ...changes }: Known): ServerReadingChanges {
  const isFresh = changes.state !== 'unknown' && !isSuspended;
  return {
    ...changes,
    ...(isSuspended && { condition: 'blocked', blocked: 'suspended', ...SUSPENDED }),
    state: isFresh ? (changes.state ?? 'unknown') : 'unknown',
    collection_up: Number(isFresh),
    off_reason: changes.state === 'offline' ? changes.last_stop?.reason : undefined,
    disk_limit_bytes: 1,
  };
}

/** A random server that an exporter could have. */
const anyServer = fc
  .record({
    state: fc.constantFrom('running' as const, 'offline' as const, 'starting' as const, 'unknown' as const),
    condition: fc.constantFrom(
      'streaming' as const,
      'polling' as const,
      'failing' as const,
      'waiting' as const,
    ),
    isSuspended: fc.boolean(),
    problem: maybe(ORIGIN.problem),
    query_problem: maybe({ cause: 'query_no_answer', detail: '' } as const),
    expected_running: fc.constantFrom(undefined, 0, 1),
    automatic_restart_aborted: fc.constantFrom(0, 1),
    last_stop: fc.option(stop, { nil: undefined }),
    unwanted_stops: fc.array(stop, { maxLength: 5 }),
    last_sample_timestamp_seconds: maybe(NOW - 100),
    disk_usage_bytes: fc.constantFrom(0.5, 1),
  })
  .map(readingChanges);

it('the page never contradicts itself, whatever is known of its servers', () => {
  fc.assert(
    fc.property(fc.array(anyServer, { minLength: 1, maxLength: 4 }), (fleet) => {
      const page = PageWindow.live(
        {
          servers: fleet.map((changes, at) =>
            changes.last_sample_timestamp_seconds === undefined && changes.state === 'unknown'
              ? serverReading({ ...changes, target: { id: `${at}`, name: `${at}` } })
              : streamingReading({ ...changes, target: { id: `${at}`, name: `${at}` } }),
          ),
        },
        '?sort=name',
      );
      const cells = page.all('tr.server');
      const listed = cells.filter((row) => (row.querySelector('td.problem')?.textContent ?? '') !== '');
      const counted = VERDICT_CODES.flatMap((verdict) =>
        page.texts(`.summary .tile[data-show="verdict:${verdict}"] b`),
      ).reduce((sum, text) => sum + Number(text), 0);
      const unread = page.texts('.summary .tile[data-show="data:unread"] b').map(Number)[0] ?? 0;
      const isCrash = (row: HTMLElement) =>
        row.querySelector<HTMLElement>('.what')?.dataset['severity'] === 'fact' &&
        row.dataset['attention'] === undefined &&
        row.querySelector('.since') !== null;
      const crashes = listed.filter(isCrash).length;
      const crashed = page.texts('.summary .tile[data-show="data:crashed"] b').map(Number)[0] ?? 0;
      // Each row with a text in the column "Problem" is in one count. Without such rows, everything
      // is fine.
      expect(listed).toHaveLength(counted + crashes);
      expect(crashed).toBeGreaterThanOrEqual(crashes);
      expect(page.all('.well')).toHaveLength(listed.length + unread === 0 ? 1 : 0);
      for (const row of cells) {
        const level = row.dataset['level'];
        const severity = row.querySelector<HTMLElement>('.what')?.dataset['severity'];
        const badge = row.querySelector<HTMLElement>('.badge')?.dataset['state'];
        if (level !== undefined) expect(severity).toBe(level);
        if (severity === 'error') expect(badge).toBe('down');
      }
      vi.unstubAllGlobals();
    }),
    { numRuns: 60 },
  );
});

it('servers that were not read yet are counted as such, beside those that run', () => {
  const servers = [running('a'), ...['b', 'c'].map((id) => serverReading({ target: { id, name: id } }))];
  const page = PageWindow.live({ servers });
  expect(page.text('.total')).toBe('3servers');
  expect(page.text('.summary .tile[data-show="state:running"]')).toBe('1running');
  expect(page.text('.summary .tile[data-show="data:unread"]')).toBe('2not read yet');
  expect(page.cell('b', 'state')).toMatch(/^not read yet/);
  expect(document.title).toBe('1/3 running, 2 not read yet · Game servers');
  expect(page.all('.well')).toEqual([]);
});
