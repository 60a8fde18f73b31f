// The network of a query protocol, with a function as the game.
import type { Network } from '../../src/query/network.ts';
import type { Incoming } from './game-answers.ts';

/**
 * Passes each datagram to the game at once, and the game's responses to the protocol until it
 * accepts one.
 */
export function scriptedNetwork(game: (incoming: Pick<Incoming, 'datagram' | 'reply'>) => void): Network {
  const udpSend = <Result>(
    request: Buffer | string,
    onDatagram?: (datagram: Buffer) => Result | undefined,
    onSilence?: () => Result | undefined,
  ): Promise<Result> => {
    const responses: Buffer[] = [];
    const datagram = typeof request === 'string' ? Buffer.from(request, 'latin1') : request;
    game({ datagram, reply: (...datagrams) => void responses.push(...datagrams) });
    for (const response of onDatagram === undefined ? [] : responses) {
      const result = onDatagram?.(response);
      if (result !== undefined) return Promise.resolve(result);
    }
    const otherwise = onDatagram === undefined ? (null as Result) : onSilence?.();
    return otherwise === undefined ? Promise.reject(new Error('silent')) : Promise.resolve(otherwise);
  };
  return { udpSend } as unknown as Network;
}
