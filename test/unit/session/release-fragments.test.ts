import { beforeEach, describe, expect, it } from 'vitest';
import * as ws from 'ws';
import {
  type Receiver as PartsReceiver,
  type ReceiverClass,
  releaseFragments,
} from '../../../src/session/release-fragments.ts';

interface FrameReceiver extends PartsReceiver {
  on(event: 'message', listener: (data: Buffer | Buffer[], isBinary: boolean) => void): void;
  write(chunk: Buffer): void;
}

interface FrameReceiverClass {
  readonly prototype: FrameReceiver;
  new (options?: object): FrameReceiver;
}

const { Receiver } = ws as unknown as { readonly Receiver: FrameReceiverClass };

const TEXT = 0x1;
const BINARY = 0x2;
const CONTINUATION = 0x0;

/** An unmasked frame, as servers send them. */
function frame(opcode: number, payload: string, isLast = true): Buffer {
  return Buffer.concat([Buffer.from([(isLast ? 0x80 : 0) | opcode, payload.length]), Buffer.from(payload)]);
}

describe('releaseFragments', () => {
  // A class of its own, so that the one in ws stays unchanged for other tests.
  let Tuned: FrameReceiverClass;

  beforeEach(() => {
    Tuned = class extends Receiver {};
    releaseFragments(Tuned);
  });

  function receive(frames: readonly Buffer[], options = {}) {
    const receiver = new Tuned(options);
    const messages: (Buffer | Buffer[])[] = [];
    receiver.on('message', (data) => messages.push(data));
    const lists: unknown[][] = [];
    for (const each of frames) {
      lists.push(receiver._fragments);
      receiver.write(each);
    }
    return { messages: messages.map(String), lists, receiver };
  }

  it('empties the list of a delivered message', () => {
    const { messages, lists } = receive([frame(TEXT, 'one'), frame(TEXT, 'two')]);
    expect(messages).toEqual(['one', 'two']);
    expect(lists).toEqual([[], []]);
  });

  it('delivers two messages that arrive together', () => {
    const { messages } = receive([Buffer.concat([frame(TEXT, 'one'), frame(TEXT, 'two')])]);
    expect(messages).toEqual(['one', 'two']);
  });

  it('keeps the fragments of an incomplete message', () => {
    const { messages, receiver } = receive([frame(TEXT, 'one ', false), frame(CONTINUATION, 'and ', false)]);
    expect(messages).toEqual([]);
    expect(receiver._fragments.map(String)).toEqual(['one ', 'and ']);
  });

  it('delivers a fragmented message as a whole', () => {
    const { messages } = receive([frame(TEXT, 'one ', false), frame(CONTINUATION, 'and two')]);
    expect(messages).toEqual(['one and two']);
  });

  it('delivers a message asynchronously if that is configured', async () => {
    const receiver = new Tuned({ allowSynchronousEvents: false });
    const delivered = new Promise((resolve) => receiver.on('message', (data) => resolve(String(data))));
    receiver.write(frame(TEXT, 'one'));
    expect(await delivered).toBe('one');
  });

  it('keeps the list if it is passed to the listener', () => {
    const { lists } = receive([frame(BINARY, 'one')], { binaryType: 'fragments' });
    expect(lists).toEqual([[Buffer.from('one')]]);
  });

  it('matches the installed version of ws', () => {
    const { dataMessage } = Receiver.prototype;
    try {
      releaseFragments();
      expect(Receiver.prototype.dataMessage).not.toBe(dataMessage);
    } finally {
      Receiver.prototype.dataMessage = dataMessage;
    }
  });

  it('does not change a ws with a different structure', () => {
    const other = { prototype: {} } as unknown as ReceiverClass;
    releaseFragments(other);
    expect(other.prototype).toEqual({});
  });
});
