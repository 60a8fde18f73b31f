// The failure of a command, as its message explains it.

/**
 * A failure that its message explains fully: it is shown as it is, without a stack, and the exit
 * code is 1.
 */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
