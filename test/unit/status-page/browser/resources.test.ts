import { afterEach, describe, expect, it, vi } from 'vitest';
import { hasUsage, meter, RESOURCES } from '../../../../src/status-page/browser/resources.tsx';
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, serverReading, streamingReading } from '../../../support/readings.ts';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const GIB = 2 ** 30;
const USAGE: ServerReadingChanges = {
  cpu_usage_cores: 1.5,
  cpu_limit_cores: 2,
  memory_usage_bytes: GIB,
  memory_limit_bytes: 4 * GIB,
  disk_usage_bytes: 5 * GIB,
  disk_limit_bytes: 5 * GIB,
};
const OFF = { state: 'offline', expected_running: 0 } as const;

/** The content of a resource's meter. */
function shown(name: string, changes: ServerReadingChanges) {
  const [server] = shownFleet([streamingReading({ ...USAGE, ...changes })]).servers;
  const resource = RESOURCES.find((one) => one.name === name);
  if (server === undefined || resource === undefined) throw new Error('nothing to show');
  const drawn = drawPart(meter(resource, server)).querySelector('.usage');
  const fill = drawn?.querySelector<HTMLElement>('.fill');
  return {
    text: drawn?.textContent,
    title: drawn?.getAttribute('title') ?? undefined,
    level: drawn?.getAttribute('data-level') ?? undefined,
    width: fill?.style.width,
  };
}

describe('a meter', () => {
  it.each<[string, ServerReadingChanges, object]>([
    ['cpu', { cpu_saturated_share: 0 }, { text: '1.50 cores75 %', title: '75 % of 2 cores', width: '75%' }],
    ['cpu', { cpu_usage_cores: 2, cpu_saturated_share: 1 }, { text: '2.00 cores100 %', level: 'warning' }],
    ['cpu', { cpu_usage_cores: 3 }, { text: '3.00 cores150 %', width: '100%' }],
    ['cpu', { cpu_limit_cores: undefined }, { text: '1.50 cores', title: undefined, width: undefined }],
    ['cpu', { cpu_usage_cores: undefined }, { text: '–', title: undefined }],
    ['cpu', OFF, { text: '–' }],
    ['memory', {}, { text: '1.00 GiB25 %', title: '25 % of 4 GiB memory', level: undefined }],
    ['memory', OFF, { text: '–' }],
    ['disk', {}, { text: '5.00 GiB100 %', title: '100 % of 5 GiB disk', level: 'warning' }],
    ['disk', { disk_usage_bytes: 4 * GIB }, { text: '4.00 GiB80 %', level: undefined }],
    ['disk', { disk_limit_bytes: undefined }, { text: '5.00 GiB', level: undefined }],
    ['disk', { ...OFF, disk_usage_bytes: GIB }, { text: '1.00 GiB20 %' }],
  ])('of %s with %j', (name, changes, expected) => {
    expect(shown(name, changes)).toMatchObject(expected);
  });
});

it.each([
  [streamingReading(USAGE), true],
  [streamingReading({ ...USAGE, ...OFF }), true],
  [streamingReading({ ...USAGE, ...OFF, disk_usage_bytes: undefined }), false],
  [serverReading(), false],
])('usage is known if any resource shows some: %#', (reading, expected) => {
  const [server] = shownFleet([reading]).servers;
  expect(server && hasUsage(server)).toBe(expected);
});
