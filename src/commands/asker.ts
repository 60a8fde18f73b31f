// The questions that a command can ask a person.

/**
 * A question whose answer is a text; `validate` returns what is wrong with an answer, or undefined.
 */
export interface Prompt {
  readonly text: string;
  readonly example: string;
  readonly validate: (answer: string) => string | undefined;
}

/** A value to choose, and its displayed text. */
export type Labeled = readonly [value: string, label: string];

/** Asks a person; rejects with a CommandFailure if the person cancels. */
export interface Asker {
  text(question: Prompt): Promise<string>;
  /** Doesn't echo the answer. */
  hidden(question: Prompt): Promise<string>;
  /** Anything but a yes means no. */
  confirms(question: string): Promise<boolean>;
  /** One of several values, by their labels; the first is the default. */
  select(question: string, options: readonly Labeled[]): Promise<string>;
  /** Any of these values, by their labels. */
  choose(question: string, options: readonly Labeled[]): Promise<readonly string[]>;
}

/** The message after a person canceled a question. */
export const CANCELED = 'canceled: nothing was written';
