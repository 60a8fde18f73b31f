// The error of a command that is printed without a stack trace.

/** An error whose message is sufficient: it is printed without a stack trace; exit code 1. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
}
