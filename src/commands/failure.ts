/** Trouble that the message names in full: it is shown as it is, without a stack, and the exit code is 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
