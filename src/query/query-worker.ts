import { parentPort, workerData } from 'node:worker_threads';
import { SystemClock } from '../domain/clock.ts';
import { queryGame } from './query-game.ts';
import { BEAT_MS, BEATS, DECODED, type FromQueryThread, type ToQueryThread } from './query-thread.ts';
import type { OpenWire, WireEvent } from './wire.ts';

// The program of the thread started by `QueryThread`.
const state = workerData as Int32Array;
const clock = new SystemClock();
const underWay = new Map<number, AbortController>();
const wires = new Map<number, (event: WireEvent) => void>();
let lastWire = 0;
let messages: FromQueryThread[] = [];

parentPort?.on('message', (received: readonly ToQueryThread[]) => {
  for (const message of received) obey(message);
});
const beat = () => void Atomics.add(state, BEATS, 1);
beat();
setInterval(beat, BEAT_MS);

function obey(message: ToQueryThread): void {
  if (message.do === 'query') void answer(message);
  else if (message.do === 'withdraw') underWay.get(message.id)?.abort();
  else wires.get(message.wire)?.(message.event);
}

async function answer({ id, target, withinMs, known }: Extract<ToQueryThread, { do: 'query' }>) {
  const controller = new AbortController();
  underWay.set(id, controller);
  const answered = await queryGame(target, {
    clock,
    withinMs,
    known,
    open: wireOf(id),
    decoding: () => void Atomics.store(state, DECODED, id),
    signal: controller.signal,
  });
  underWay.delete(id);
  tell({ do: 'answer', id, ...answered });
}

/** The main thread has the sockets: a thread that ends while one of them receives data would end the process. */
function wireOf(id: number): OpenWire {
  return (port, hear) => {
    lastWire += 1;
    const wire = lastWire;
    wires.set(wire, hear);
    return (order) => {
      if (order.do === 'close') wires.delete(wire);
      tell({ do: 'wire', id, wire, port, order });
    };
  };
}

/** Messages of one moment are sent as one, since waking the other thread costs more than what they contain. */
function tell(message: FromQueryThread): void {
  if (messages.push(message) > 1) return;
  setImmediate(() => {
    parentPort?.postMessage(messages);
    messages = [];
  });
}
