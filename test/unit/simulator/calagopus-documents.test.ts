import { describe, expect, it } from 'vitest';
import {
  nodeUuid,
  pageDocument,
  scheduleDocument,
  serverDocument,
} from '../../../src/simulator/calagopus-documents.ts';
import { newSchedule } from '../../../src/simulator/simulated-schedules.ts';
import type { Conflict } from '../../../src/simulator/simulator-schema.ts';
import { SimulatedPanel } from '../../support/simulated-api.ts';

it.each<[Conflict | undefined, object]>([
  [undefined, {}],
  ['installing', { status: 'installing' }],
  ['install_failed', { status: 'install_failed' }],
  ['restoring_backup', { status: 'restoring_backup' }],
  ['suspended', { is_suspended: true }],
  ['transferring', { is_transferring: true }],
  ['maintenance', { node_maintenance_enabled: true }],
])('a server whose conflict is %s has a status, or one of the flags', (conflict, shown) => {
  const { survival, settings } = new SimulatedPanel();
  survival.conflict = conflict;
  expect(serverDocument(survival, settings)).toMatchObject({
    status: null,
    is_suspended: false,
    is_transferring: false,
    node_maintenance_enabled: false,
    ...shown,
  });
});

describe('a node', () => {
  it('has one UUID, by which its servers name it', () => {
    const { fleet, survival, settings } = new SimulatedPanel({}, { node: 'berlin' });
    const neighbor = fleet.add({ name: 'neighbor', node: 'berlin' });
    expect(nodeUuid(neighbor)).toBe(nodeUuid(survival));
    expect(nodeUuid(fleet.add({ name: 'far', node: 'paris' }))).not.toBe(nodeUuid(survival));
    expect(serverDocument(survival, settings)).toMatchObject({ node_uuid: nodeUuid(neighbor) });
  });
});

it('a page has its entries, and the number of all', () => {
  const document = (id: number) => ({ id });
  expect(pageDocument([1, 2, 3], 2, 2, document)).toEqual({
    total: 3,
    per_page: 2,
    page: 2,
    data: [{ id: 3 }],
  });
});

it('a schedule has the time of its last run, once it ran', () => {
  const { clock, survival } = new SimulatedPanel();
  const schedule = newSchedule({ name: 'restart', everyMs: 60_000 }, 0, clock.now());
  expect(scheduleDocument(schedule, survival.uuid, clock)).toMatchObject({ enabled: true, last_run: null });
  schedule.lastRunAt = clock.now();
  const last = new Date(clock.toUnixMs(clock.now())).toISOString();
  expect(scheduleDocument(schedule, survival.uuid, clock)).toMatchObject({ last_run: last });
});
