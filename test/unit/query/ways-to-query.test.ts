import { describe, expect, it, vi } from 'vitest';
import { type QueryTarget, questionFor } from '../../support/query-here.ts';

const IP = '192.0.2.1';

const waysOf = (target: QueryTarget) => questionFor(target).ways;

const waysAs = (type: string, port: number, isQueryPort = false) =>
  waysOf({ type, ip: IP, port, isQueryPort }).map((way) => `${way.protocol} ${way.port}`);

describe('the ways to query a server', () => {
  it("add the port that the game's rule derives from the players' port", () => {
    expect(waysAs('valheim', 2466)).toEqual(['valve 2466', 'valve 2467']);
    expect(waysAs('vrising', 9876)).toEqual(['valve 9876', 'valve 9877', 'valve 9891']);
  });

  it("add the default query port if the players' port is the default", () => {
    expect(waysAs('ase', 7777)).toEqual(['valve 7777', 'valve 27015']);
    expect(waysAs('ase', 7779)).toEqual(['valve 7779']);
  });

  it("use only the given port if it is known to respond to queries, or is the players' port", () => {
    expect(waysAs('rust', 28_015)).toEqual(['valve 28015']);
    expect(waysAs('valheim', 2457, true)).toEqual(['valve 2457']);
    expect(waysAs('ase', 7777, true)).toEqual(['valve 7777']);
  });

  it.each<[string, Partial<QueryTarget>, number[]]>([
    [
      "the named one first, then the players' port and the derived one",
      { namedPort: 27_020 },
      [27_020, 2456, 2457],
    ],
    ['the other ones last', { otherPorts: [3000, 3001] }, [2456, 2457, 3000, 3001]],
    ['each one once', { namedPort: 2457, otherPorts: [2457, 3000] }, [2457, 2456, 3000]],
    ['at most four', { namedPort: 2999, otherPorts: [2999, 3000, 3001] }, [2999, 2456, 2457, 3000]],
    [
      "no other server's",
      { namedPort: 3000, otherPorts: [3000, 3001], isTaken: (port) => port > 2456 },
      [2456],
    ],
    [
      'as many as remain without those of other servers',
      { otherPorts: [3000, 3001, 3002], isTaken: (port) => port === 3000 },
      [2456, 2457, 3001, 3002],
    ],
    [
      'only the configured query port',
      { isQueryPort: true, namedPort: 3000, otherPorts: [3000, 3001] },
      [2456],
    ],
  ])("use the server's ports: %s", (_, more, ports) => {
    const ways = waysOf({ type: 'valheim', ip: IP, port: 2456, isQueryPort: false, ...more });
    expect(ways.map(({ port }) => port)).toEqual(ports);
  });

  it.each([
    ['asks about no port after the fourth free one', 0, 4],
    ['considers at most 16 ports, whatever others have', 65_535, 16],
  ])('%s', (_, lastTaken, asked) => {
    const isTaken = vi.fn<(port: number) => boolean>((port) => port <= lastTaken);
    const otherPorts = Array.from({ length: 1_000 }, (_, index) => 10_000 + index);
    waysOf({ type: 'rust', ip: IP, port: 2456, isQueryPort: false, otherPorts, isTaken });
    expect(isTaken).toHaveBeenCalledTimes(asked);
  });

  it('never use an invalid port', () => {
    expect(waysAs('atlas', 20_000)).toEqual(['valve 20000']);
    expect(waysAs('unrealtournament3', 1000)).toEqual(['ut3 1000']);
  });

  it('begin with the most likely protocol', () => {
    expect(waysAs('teeworlds', 8303)).toEqual(['teeworlds7 8303', 'teeworlds6 8303']);
    expect(waysAs('minecraft', 25_565)).toEqual([
      'minecraftvanilla 25565',
      'minecraftlegacy 25565',
      'minecraftbedrock 25565',
      'gamespy3 25565',
    ]);
    expect(waysAs('mbe', 19_132)).toEqual(['minecraftbedrock 19132', 'gamespy3 19132']);
  });
});
