// Recorded dialogues of console sockets.
import { readFileSync } from 'node:fs';

/** An event on a recorded socket, and the milliseconds since the socket was requested. */
export interface RecordedEvent {
  readonly atMs: number;
  /** Frames are exact copies. */
  readonly what: 'open' | 'ping' | { readonly frame: string };
}

const EVENT = /^(\d+\.\d) (?:(open|ping)|< (\{.*\}))$/;

/** Reads a dialogue from `test/fixtures/dialogues`. */
export function recordedDialogue(name: string): readonly RecordedEvent[] {
  const file = new URL(`../fixtures/dialogues/${name}.txt`, import.meta.url);
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(readEvent);
}

function readEvent(line: string): RecordedEvent {
  const [, seconds, plain, frame = ''] = EVENT.exec(line) ?? [];
  if (seconds === undefined) throw new Error(`expected a recorded event, got ${line}`);
  const what = plain === undefined ? { frame } : (plain as 'open' | 'ping');
  return { atMs: Math.round(Number(seconds) * 1_000), what };
}
