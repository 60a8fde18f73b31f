// A yes-or-no question before an action that affects players.

import { createInterface } from 'node:readline';
import { printable } from '../text/printable.ts';

/** Prints the question and reads the answer; anything but a yes means no. */
export async function confirmed(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const asking = createInterface({ input, output });
  asking.setPrompt(`${printable(question)} [y/N] `);
  asking.prompt();
  const { value = '' } = await asking[Symbol.asyncIterator]().next();
  asking.close();
  return /^y(?:es)?$/i.test(String(value).trim());
}
