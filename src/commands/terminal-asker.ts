// Asks a person in the terminal.

import { Printout } from '../doctor/paint.ts';
import { type Asker, CANCELED, type Labeled, type Prompt } from './asker.ts';
import { CommandFailure } from './command-failure.ts';

/** The number of options that are visible at a time. */
const SHOWN_OPTIONS = 12;

const toOption = ([value, label]: Labeled) => ({ value, label });

/** Asks in the terminal, on standard error; the signal cancels a question. */
export async function terminalAsker(signal: AbortSignal): Promise<Asker> {
  // Loaded only if a question is asked.
  const { confirm, multiselect, password, select, text } = await import('@clack/prompts');
  // In a terminal that doesn't report its size, the library writes one character per line, or
  // nothing.
  const { stderr } = process;
  if (!(stderr.columns > 0)) stderr.columns = 80;
  if (!(stderr.rows > 0)) stderr.rows = 24;
  const common = { output: stderr, signal, withGuide: false };
  // The library wraps lines within words. A symbol and two spaces precede its questions.
  const page = Printout.for(stderr, process.env);
  const wrapped = (question: string) => page.wrapped(question, '   ').trimStart();
  /** Returns the answer; throws if the question was canceled. */
  function answered<T>(answer: T): Exclude<T, symbol> {
    if (typeof answer === 'symbol') throw new CommandFailure(CANCELED);
    return answer as Exclude<T, symbol>;
  }
  const asking = ({ text: question, example, validate }: Prompt) => ({
    ...common,
    message: wrapped(question),
    placeholder: example,
    validate: (answer = '') => validate(answer),
  });
  return {
    text: async (question) => answered(await text(asking(question))),
    hidden: async (question) => answered(await password({ ...asking(question), mask: '' })),
    confirms: async (question) =>
      answered(await confirm({ ...common, message: wrapped(question), initialValue: false })),
    select: async (question, options) =>
      answered(await select({ ...common, message: wrapped(question), options: options.map(toOption) })),
    choose: async (question, options) =>
      answered(
        await multiselect({
          ...common,
          message: wrapped(question),
          options: options.map(toOption),
          required: false,
          maxItems: SHOWN_OPTIONS,
        }),
      ),
  };
}
