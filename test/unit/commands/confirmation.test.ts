import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { confirmed } from '../../../src/commands/confirmation.ts';

/** Whether the answer is a confirmation, and the displayed text. */
async function ask(answer: string, question = 'stop survival on panel main?') {
  const [input, output] = [new PassThrough(), new PassThrough()];
  input.end(answer);
  const isConfirmed = await confirmed(question, input, output);
  return { isConfirmed, displayed: String(output.read()) };
}

it.each([
  ['y\n', true],
  ['Yes\n', true],
  ['  y  \n', true],
  ['y', true],
  ['\n', false],
  ['n\n', false],
  ['yeah\n', false],
  ['no\ny\n', false],
  // Ctrl-D.
  ['', false],
])('the answer %j confirms an action: %s', async (answer, isConfirmed) => {
  expect(await ask(answer)).toEqual({ isConfirmed, displayed: 'stop survival on panel main? [y/N] ' });
});

it('the question has no control characters, whatever the name of the server contains', async () => {
  const { displayed } = await ask('y\n', 'stop \u001b[31mred\r?');
  expect(displayed).toContain('red');
  expect(displayed).not.toMatch(/\p{Cc}/u);
});
