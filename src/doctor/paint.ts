import { styleText } from 'node:util';
import type { StepResult } from './report.ts';

/** Colours a text, or leaves it as it is. */
export type Paint = (format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string;

/** Colours where they are wanted, plain text elsewhere. */
export function painter(colours: boolean): Paint {
  // The stream was looked at already, by whoever said that colours are wanted.
  return (format, text) => (colours ? styleText(format, text, { validateStream: false }) : text);
}

/** Should this stream be coloured? Only a terminal that supports colours, unless NO_COLOR is set. */
export function wantsColours(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const refuses = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return stream.isTTY === true && !refuses && env['TERM'] !== 'dumb';
}

const SHOWN: Readonly<Record<StepResult, readonly [Parameters<Paint>[0], string]>> = {
  ok: ['green', 'ok'],
  warning: ['yellow', 'warning'],
  failed: ['red', 'failed'],
  skipped: ['dim', '-'],
};

/** A step's result as a table shows it. */
export function paintResult(result: StepResult, paint: Paint): string {
  const [format, word] = SHOWN[result];
  return paint(format, word);
}
