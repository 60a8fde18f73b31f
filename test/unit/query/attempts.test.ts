import type { Game } from 'gamedig';
import { games } from 'gamedig';
import { describe, expect, it } from 'vitest';
import { attemptsFor } from '../../../src/query/attempts.ts';

const asked = (type: string, port: number, isQueryPort = false) =>
  attemptsFor({ type, port, isQueryPort }, games).map((attempt) => `${attempt.protocol} ${attempt.port}`);

describe('the attempts to query a server', () => {
  it('use one port if players connect to the port that answers', () => {
    expect(asked('rust', 28_015)).toEqual(['valve 28015']);
  });

  it("add the port that the game's rule derives from the players' port", () => {
    expect(asked('valheim', 2466)).toEqual(['valve 2466', 'valve 2467']);
    expect(asked('vrising', 9876)).toEqual(['valve 9876', 'valve 9877', 'valve 9891']);
  });

  it("add the default query port if the players' port is the default", () => {
    expect(asked('ase', 7777)).toEqual(['valve 7777', 'valve 27015']);
    expect(asked('ase', 7779)).toEqual(['valve 7779']);
  });

  it('use only the given port if it is known to answer queries', () => {
    expect(asked('valheim', 2457, true)).toEqual(['valve 2457']);
    expect(asked('ase', 7777, true)).toEqual(['valve 7777']);
  });

  it('never use an invalid port', () => {
    expect(asked('atlas', 20_000)).toEqual(['valve 20000']);
    expect(asked('unrealtournament3', 1000)).toEqual(['ut3 1000']);
  });

  it('begin with the protocol of the edition for Minecraft', () => {
    expect(asked('minecraft', 25_565)).toEqual([
      'minecraftvanilla 25565',
      'minecraftbedrock 25565',
      'gamespy3 25565',
    ]);
    expect(asked('mbe', 19_132)).toEqual(['minecraftbedrock 19132', 'gamespy3 19132']);
  });

  it('use both protocols for Teeworlds', () => {
    expect(asked('teeworlds', 8303)).toEqual(['teeworlds7 8303', 'teeworlds6 8303']);
  });

  it.each(['nonsense', 'toString', '__proto__'])('are empty for the unknown type %s', (type) => {
    expect(attemptsFor({ type, port: 1, isQueryPort: false }, games as Record<string, Game>)).toEqual([]);
  });
});
