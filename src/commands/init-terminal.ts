import { CommandFailure } from './command-line.ts';
import type { Asker, Validate } from './init-answers.ts';

/** Asks in the terminal, on standard error; the signal cancels a question. */
export async function terminalAsker(signal: AbortSignal): Promise<Asker> {
  // Loaded only if a question is asked.
  const { confirm, password, text } = await import('@clack/prompts');
  // In a terminal that doesn't report its size, the library would write one character per line, or nothing.
  const { stderr } = process;
  if (!(stderr.columns > 0)) stderr.columns = USUAL_COLUMNS;
  if (!(stderr.rows > 0)) stderr.rows = USUAL_ROWS;
  const common = { output: stderr, signal, withGuide: false };
  /** Returns the answer; throws if the question was canceled. */
  function answered<T>(answer: T): Exclude<T, symbol> {
    if (typeof answer === 'symbol') throw new CommandFailure(STOPPED);
    return answer as Exclude<T, symbol>;
  }
  const checking = (validate: Validate) => ({
    validate: (answer: string | undefined) => validate(answer ?? ''),
  });
  return {
    text: async (message, example, validate) =>
      answered(await text({ ...common, ...checking(validate), message, placeholder: example })),
    hidden: async (message, validate) =>
      answered(await password({ ...common, ...checking(validate), message, mask: '' })),
    confirms: async (message) => answered(await confirm({ ...common, message, initialValue: false })),
  };
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export const STOPPED = 'canceled: nothing was written';
