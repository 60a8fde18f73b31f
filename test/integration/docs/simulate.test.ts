import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/api.ts';
import {
  conflictSchema,
  endpointSchema,
  profileNameSchema,
  restFaultSchema,
  socketActionSchema,
  socketFaultSchema,
  usageSchema,
} from '../../../src/simulator/schema.ts';
import { settingsSchema } from '../../../src/simulator/settings.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { documents, fencedBlocks } from '../../support/documents.ts';

const run = promisify(execFile);

const page = documents().find(({ path }) => path === 'docs/simulate.md') ?? { path: '', text: '' };
const blocks = fencedBlocks(page, 'sh').filter((block) => block.includes('$C'));
const commands = blocks
  .filter((block) => !block.startsWith('for '))
  .flatMap((block) => block.split('\n').filter((line) => line.startsWith('curl ')));

let panel: Simulator;

beforeAll(async () => {
  panel = await startSimulator();
});

afterAll(() => panel.stop());

/** Runs shell commands as a reader would, with the simulator's own address. */
async function shell(script: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', `C=${panel.controlUrl}/control\n${script}`]);
  return stdout;
}

describe('the commands on the simulator page', () => {
  it('all work, one after the other', async () => {
    expect(commands.length).toBeGreaterThan(60);
    const failed: string[] = [];
    for (const command of commands) {
      const answer = await shell(command.replace('curl ', 'curl -s '));
      if (!/^[[{]/.test(answer) || answer.startsWith('{"error"')) failed.push(`${command}\n${answer}`);
    }
    expect(failed).toEqual([]);
  });

  it('take a whole node down', async () => {
    const loop = blocks.find((block) => block.startsWith('for '));
    const answers = await shell(loop ?? '');
    expect(answers).toBe('{"ok":true}'.repeat(panel.servers.length));
  });

  it('fail if they are wrong', async () => {
    expect(await shell("curl -s -X POST $C/sockets -d '{}'")).toMatch(/^\{"error"/);
  });

  it('cover every operation', async () => {
    const answer = await shell('curl -s $C/nothing');
    const { operations } = JSON.parse(answer) as { operations: readonly string[] };
    expect(operations.length).toBeGreaterThan(20);
    const missing = operations.filter((path) => {
      const pattern = path.replace('/control', String.raw`\$C`).replace(':server', String.raw`[\w-]+`);
      return !commands.some((command) => new RegExp(`${pattern}(?: |$)`).test(command));
    });
    expect(missing).toEqual([]);
  });
});

describe('the simulator page', () => {
  const kindsOf = (schema: {
    readonly options: readonly { readonly shape: { kind: { value: string } } }[];
  }) => schema.options.map(({ shape }) => shape.kind.value);

  it.each([
    ['faults/rest', kindsOf(restFaultSchema)],
    ['faults/sockets', kindsOf(socketFaultSchema)],
    ['sockets', kindsOf(socketActionSchema)],
  ])('has a command for every kind of %s', (path, kinds) => {
    const missing = kinds.filter(
      (kind) => !commands.some((command) => command.includes(`$C/${path} -d '{"kind":"${kind}"`)),
    );
    expect(missing).toEqual([]);
  });

  it('lists every setting, and every value of a choice', () => {
    const words = [
      ...Object.keys(settingsSchema.shape),
      ...Object.keys(usageSchema.shape),
      ...conflictSchema.options,
      ...profileNameSchema.options,
      ...endpointSchema.options,
    ];
    expect(words.filter((word) => !page.text.includes(`\`${word}\``))).toEqual([]);
  });
});
