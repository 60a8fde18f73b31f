import { styleText } from 'node:util';
import type { StepResult } from './report.ts';

/** Colors a text, or returns it unchanged. */
export type Paint = (format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string;

/** Returns a function that colors texts, or one that leaves them unchanged. */
export function painter(colors: boolean): Paint {
  // The stream was already checked by the caller.
  return (format, text) => (colors ? styleText(format, text, { validateStream: false }) : text);
}

/** Whether output to this stream should be colored: only in a terminal that supports colors, unless NO_COLOR is set. */
export function wantsColors(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  const refuses = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '';
  return stream.isTTY === true && !refuses && env['TERM'] !== 'dumb';
}

const SHOWN: Readonly<Record<StepResult, readonly [Parameters<Paint>[0], string]>> = {
  ok: ['green', 'ok'],
  warning: ['yellow', 'warning'],
  failed: ['red', 'failed'],
  skipped: ['dim', '-'],
};

/** A step's result as shown in a table. */
export function paintResult(result: StepResult, paint: Paint): string {
  const [format, word] = SHOWN[result];
  return paint(format, word);
}
