// Requests a path of the exporter again and again, and records the response times.

import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface Probe {
  /**
   * The response times since the last call in milliseconds, including that of a response that is
   * still awaited.
   */
  take(): readonly number[];
  stop(): void;
}

/** Requests a path, waits for the whole response, pauses, and repeats that. */
export function probe(url: string, pauseMs: number): Probe {
  const agent = new Agent({ keepAlive: true });
  let took: number[] = [];
  let askedAt: number | undefined;
  const stopping = new AbortController();
  const ask = async () => {
    while (!stopping.signal.aborted) {
      askedAt ??= performance.now();
      if (await responds(url, agent)) {
        took.push(performance.now() - askedAt);
        askedAt = undefined;
      }
      await delay(pauseMs);
    }
    agent.destroy();
  };
  void ask();
  return {
    take: () => {
      const all = askedAt === undefined ? took : [...took, performance.now() - askedAt];
      took = [];
      return all;
    },
    stop: () => stopping.abort(),
  };
}

/** Resolves with whether there was a whole response with status 200. */
async function responds(url: string, agent: Agent): Promise<boolean> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { agent, headers: { 'Accept-Encoding': 'gzip' } }, resolve).on('error', reject);
    });
    // The time includes receiving the body, but not decoding it.
    for await (const _ of response);
    return response.statusCode === 200;
  } catch {
    return false;
  }
}
