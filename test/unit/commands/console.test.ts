import { afterEach, expect, it } from 'vitest';
import { consoleCommand } from '../../../src/commands/console.ts';

afterEach(() => {
  process.exitCode = undefined;
});

/**
 * Runs the command with arguments that it rejects before it reads a configuration. Returns the
 * error.
 */
async function complaint(...args: readonly string[]): Promise<string> {
  let err = '';
  const command = consoleCommand()
    .exitOverride()
    .configureOutput({ writeErr: (written) => (err += written) });
  await expect(command.parseAsync(args, { from: 'user' })).rejects.toThrow(/./);
  return err;
}

it.each<[readonly string[], RegExp]>([
  [['survival', '--send', '  '], /Expected a command, but it is empty\./],
  [['survival', '--for', '0s'], /Expected a duration such as 5s or 10m\./],
  [['survival', '--for', 'soon'], /Expected a duration such as 5s or 10m\./],
  [['survival', '--power', 'explode'], /Allowed choices are start, stop, restart, kill\./],
  [[], /missing required argument 'server'/],
])('the arguments %j are rejected as invalid usage', async (args, message) => {
  expect(await complaint(...args)).toMatch(message);
});

it('a power action without a terminal requires --yes', async () => {
  expect(await complaint('survival', '--power', 'stop')).toBe(
    'error: --power stop asks for confirmation, but there is no terminal: add --yes\n',
  );
});
