import { describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import { order } from '../../../../src/status-page/browser/shown-servers.ts';
import { GROUPED_FROM, groupLines, isGroup } from '../../../../src/status-page/browser/table-lines.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { serverReading } from '../../../support/readings.ts';
import { named } from './named-servers.ts';

describe('lines of the table', () => {
  /** Servers without data on this node, for this cause. */
  const lost = (count: number, cause: 'node_connection' | 'node_timeout' | 'closed_for_good', node: string) =>
    Array.from({ length: count }, (_, at) =>
      serverReading({
        condition: 'failing',
        problem: { cause, detail: `attempt ${at}` },
        target: { id: `${node}-${cause}-${at}`, name: `${node} ${at}`, node },
      }),
    );
  const MANY = GROUPED_FROM;
  /** The sizes of groups and the names of servers, with open or closed groups. */
  const shown = (readings: readonly ServerReading[], isOpen = false) =>
    groupLines(order(shownFleet(readings), { q: '', show: '', sort: '' }), () => isOpen).map((line) =>
      isGroup(line) ? line.servers.length : line.server,
    );

  it('are one for all servers of a dead node, however its failure shows', () => {
    const dead = [...lost(199, 'node_connection', 'n1'), ...lost(3, 'node_timeout', 'n1')];
    expect(shown([...dead, named('lobby', 1)])).toEqual([202, 'lobby']);
    expect(shown([...dead, named('lobby', 1)], true)).toHaveLength(204);
  });

  it('are others for other nodes and other causes', () => {
    const readings = [
      ...lost(MANY, 'node_connection', 'n1'),
      ...lost(MANY + 1, 'node_connection', 'n2'),
      ...lost(MANY + 2, 'closed_for_good', 'n1'),
    ];
    expect(shown(readings)).toEqual([MANY, MANY + 1, MANY + 2]);
  });

  it('are one for a problem of their own on all panels, unless what to do differs', () => {
    const off = (panel: string, reason: 'requested' | 'exited') =>
      Array.from({ length: MANY }, (_, at) =>
        named(`${panel}-${reason}-${at}`, 0, {
          state: 'offline',
          start_time_seconds: undefined,
          expected_running: 1,
          last_stop: { timestamp_seconds: 1_699_911_000, reason },
          target: { panel },
        }),
      );
    const readings = [...off('a', 'requested'), ...off('b', 'requested'), ...off('b', 'exited')];
    expect(shown(readings)).toEqual([2 * MANY, MANY]);
  });

  it('are one for servers of which it is not known whether they should run', () => {
    const unclear = Array.from({ length: MANY }, (_, at) =>
      named(`spare-${at}`, 0, {
        state: 'offline',
        start_time_seconds: undefined,
        expected_running: undefined,
      }),
    );
    expect(shown([...unclear, named('lobby', 1)])).toEqual([MANY, 'lobby']);
  });

  it('are not together if there are few, and never if nothing is wrong', () => {
    expect(shown(lost(MANY - 1, 'node_connection', 'n1'))).toHaveLength(MANY - 1);
    const fine = Array.from({ length: MANY }, (_, at) => named(`lobby-${at}`, 1));
    expect(shown(fine)).toHaveLength(MANY);
  });
});
