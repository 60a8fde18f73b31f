import { parentPort, workerData } from 'node:worker_threads';
import type { News, Order } from './network.ts';
import { runProtocol } from './protocols.ts';
import { BEAT_MS, BEATS, DECODED, type FromQueryThread, type ToQueryThread } from './query-thread.ts';

// The program of the thread started by `QueryThread`.
const state = workerData as Int32Array;
const attempts = new Map<number, (news: News) => void>();

const beat = () => void Atomics.add(state, BEATS, 1);
beat();
setInterval(beat, BEAT_MS);

parentPort?.on('message', ({ id, news }: ToQueryThread) => {
  const tell = (order: Order) => parentPort?.postMessage({ id, order } satisfies FromQueryThread);
  if (news.on === 'start') attempts.set(id, runProtocol(news, tell));
  else {
    Atomics.store(state, DECODED, id);
    attempts.get(id)?.(news);
    if (news.on === 'end') attempts.delete(id);
  }
});
