import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryBedrock } from '../../../src/query/minecraft.ts';
import type { Network } from '../../../src/query/network.ts';
import type { Way } from '../../../src/query/query-model.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { bedrockPong } from '../../support/game-answers.ts';

const WAY: Way = {
  protocol: 'minecraftbedrock',
  ip: '192.0.2.1',
  hostname: '192.0.2.1',
  port: 19_132,
  queryPort: 19_132,
};

/** The counts in a status with this name and these players, or in its first part. */
function countsOf(name: string, players: number | string = 3, length?: number) {
  const udpSend = (ping: Buffer, onDatagram: (datagram: Buffer) => unknown) =>
    Promise.resolve(onDatagram(bedrockPong(ping, players, 20, name).subarray(0, length)));
  return queryBedrock({ udpSend } as unknown as Network, WAY);
}

const THREE = { players: '3', maxPlayers: '20' };
const UNKNOWN = 'the response contains no player count';

describe('the players of a Bedrock server', () => {
  it.each([
    'a name',
    '',
    'A;B',
    'A\\;B',
    'ends with a backslash\\',
    '\\\\',
    '100;50',
    '1;2;3;4;5;6;7',
    ';;;;',
    'line\nbreak',
  ])('are found after the name %j', async (name) => {
    expect(await countsOf(name)).toEqual(THREE);
  });

  it('are found after any name without numbers', async () => {
    const name = fc.string({ unit: fc.constantFrom('a', ';', '\\', ' ', '.', 'é', '-') });
    await fc.assert(
      fc.asyncProperty(name, async (text) => {
        expect(await countsOf(text)).toEqual(THREE);
      }),
    );
  });

  it('are unknown if the name contains a status, too', async () => {
    await expect(countsOf('a name;800;1.21.80;9;90')).rejects.toThrow(UNKNOWN);
  });

  it.each(['', '-1', 'x', '3.5', '99999999999'])('are unknown if their number is %j', async (players) => {
    await expect(countsOf('a name', players)).rejects.toThrow(UNKNOWN);
  });

  it.each(['\\', ';', '1;', '\\;', '1;.;1;1;'])(
    'are looked for in time in proportion to the length of a name of %j',
    async (unit) => {
      const before = cpuMs();
      for (let time = 0; time < 20; time += 1)
        await countsOf(unit.repeat(64_000 / unit.length), 3, 60_000).catch(() => undefined);
      expect(cpuMs() - before).toBeLessThan(2_000);
    },
  );
});
