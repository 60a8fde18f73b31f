import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

async function helpOf(command: readonly string[]): Promise<string> {
  const program = runProgram([...command, '--help']);
  expect(await program.ended).toMatchObject({ code: 0 });
  expect(program.stderr).toBe('');
  return program.stdout;
}

const COMMANDS = [...(await helpOf([])).matchAll(/^ {2}(?<name>[a-z]+)(?: \S+)* {2}/gm)].flatMap(
  ({ groups }) => (groups?.['name'] === undefined || groups['name'] === 'help' ? [] : [groups['name']]),
);

it('the help lists the commands', () => {
  expect(COMMANDS).toEqual(
    expect.arrayContaining(['serve', 'init', 'check', 'doctor', 'console', 'demo', 'simulate']),
  );
});

describe.concurrent.each([[], ...COMMANDS.map((name) => [name])])('%s --help', (...command) => {
  it('has examples that name the command, lists its exit codes, and fits a terminal', async () => {
    const help = await helpOf(command);
    const examples = help.slice(help.search(/^Examples?:$/m)).match(/^ {2}\$ .*$/gm) ?? [];
    expect(help).toMatch(/^Examples?:$/m);
    expect(examples[0]).toContain(['gameserver-exporter', ...command].join(' '));
    expect(help).toMatch(/^Exit codes: 0 .+ · 1 .+ · 2 invalid usage/m);
    // Every flag is explained.
    for (const line of help.match(/^ {2}-{1,2}\S.*$/gm) ?? [])
      expect(line).toMatch(/^ {2}-.+? {2,}\S|^.{30,}$/);
    // Examples may be longer, so that they can be copied, and so may words that can't be broken.
    for (const line of help.split('\n'))
      expect(line.length, line).toBeLessThanOrEqual(/^ {2}\$ |^ *\S+$/.test(line) ? 120 : 80);
  });
});
