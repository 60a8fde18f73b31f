import { CommandFailure } from './command-line.ts';
import type { Asker, Validate } from './init-answers.ts';

/** Asks in the terminal, on the standard error; the signal ends a question. */
export async function terminalAsker(signal: AbortSignal): Promise<Asker> {
  // Loaded only where somebody is asked.
  const { confirm, password, text } = await import('@clack/prompts');
  // The library would write one character a line, or nothing, in a terminal that doesn't tell its size.
  const { stderr } = process;
  if (!(stderr.columns > 0)) stderr.columns = USUAL_COLUMNS;
  if (!(stderr.rows > 0)) stderr.rows = USUAL_ROWS;
  const common = { output: stderr, signal, withGuide: false };
  /** The answer, or a failure in its place where the question was ended. */
  function answered<T>(answer: T): Exclude<T, symbol> {
    if (typeof answer === 'symbol') throw new CommandFailure(STOPPED);
    return answer as Exclude<T, symbol>;
  }
  const checking = (validate: Validate) => ({
    validate: (answer: string | undefined) => validate(answer ?? ''),
  });
  return {
    text: async (message, placeholder, validate) =>
      answered(await text({ ...common, ...checking(validate), message, placeholder })),
    hidden: async (message, validate) =>
      answered(await password({ ...common, ...checking(validate), message, mask: '' })),
    confirms: async (message) => answered(await confirm({ ...common, message, initialValue: false })),
  };
}

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export const STOPPED = 'stopped: nothing was written';
