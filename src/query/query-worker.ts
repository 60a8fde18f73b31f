import { parentPort, workerData } from 'node:worker_threads';
import type { News, Order } from './network.ts';
import { runProtocol } from './protocols.ts';
import { DECODED, DECODING, type FromQueryThread, MAX_NUMBER, type ToQueryThread } from './query-thread.ts';

// The program of the thread started by `QueryThread`.
const state = workerData as Int32Array;
const attempts = new Map<number, (news: News) => void>();
let decoded = 0;

parentPort?.on('message', ({ id, news }: ToQueryThread) => {
  const tell = (order: Order) => parentPort?.postMessage({ id, order } satisfies FromQueryThread);
  if (news.on === 'start') attempts.set(id, runProtocol(news, tell));
  else {
    decoded = (decoded % MAX_NUMBER) + 1;
    Atomics.store(state, DECODED, id);
    Atomics.store(state, DECODING, decoded);
    // By then, the protocol has gone on as far as it can.
    setImmediate(() => Atomics.store(state, DECODING, 0));
    attempts.get(id)?.(news);
    if (news.on === 'end') attempts.delete(id);
  }
});
