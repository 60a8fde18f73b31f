import * as ws from 'ws';

/** What is used here of the class in ws that reads frames; ws exports it, but its types leave it out. */
export interface Receiver {
  /** The parts of the message that is coming in; another list after each message. */
  readonly _fragments: unknown[];
  readonly _binaryType: string;
  dataMessage: (this: Receiver, done: (error?: Error) => void) => void;
}

/** The class, or one that extends it. */
export interface ReceiverClass {
  readonly prototype: Receiver;
}

/**
 * Has ws empty the list of a message's fragments once the message was delivered. ws makes that list at the end of the message before,
 * so with a frame a second it is an old object by the time a fragment is put into it. V8's young collection takes for alive whatever an
 * old object points at, even one that nobody needs any more: each frame's buffers would be moved among the old objects, and pile up
 * until the next full collection. With 10,000 servers that was a fifth of the CPU (bench/RESULTS.md). Does nothing to a ws that is
 * built in another way.
 */
export function releaseFragments(receiver: ReceiverClass | undefined = receiverOfWs()): void {
  if (typeof receiver?.prototype.dataMessage !== 'function') return;
  const { prototype } = receiver;
  const { dataMessage } = prototype;
  prototype.dataMessage = function (done): void {
    const fragments = this._fragments;
    dataMessage.call(this, done);
    const isDelivered = this._fragments !== fragments;
    // In this form the listener is given the list itself.
    if (isDelivered && this._binaryType !== 'fragments') fragments.length = 0;
  };
}

function receiverOfWs(): ReceiverClass | undefined {
  return (ws as unknown as { readonly Receiver?: ReceiverClass }).Receiver;
}
