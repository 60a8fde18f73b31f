// The thread program that queries games.

import { parentPort, workerData } from 'node:worker_threads';
import { SystemClock } from '../domain/clock.ts';
import type { Question } from './query-model.ts';
import type { Message } from './query-thread.ts';
import { queryWay } from './query-way.ts';
import { answerTo } from './race-of-ways.ts';

/**
 * Handles the messages to the thread. `decoded` is the shared memory with the query whose response
 * is being decoded.
 */
function serve(port: NonNullable<typeof parentPort>, decoded: Float64Array): void {
  const clock = new SystemClock();
  const running = new Map<number, AbortController>();
  const ask = async (id: number, question: Question, scope: AbortController) => {
    running.set(id, scope);
    const decoding = (isBusy: boolean) => void (decoded[0] = isBusy ? id : 0);
    const answer = await answerTo(
      question,
      clock,
      (way, signal) => queryWay(way, { clock, decoding }, signal),
      scope.signal,
    );
    running.delete(id);
    port.postMessage({ id, answer } satisfies Message, []);
  };
  port.on('message', ({ id, question }: Message) => {
    if (question === undefined) running.get(id)?.abort();
    else void ask(id, question, new AbortController());
  });
}

if (parentPort !== null && workerData instanceof Float64Array) serve(parentPort, workerData);
