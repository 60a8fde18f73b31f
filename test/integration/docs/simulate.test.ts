import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { documents, fencedBlocks } from '../../support/documents.ts';

const run = promisify(execFile);

const page = documents().find(({ path }) => path === 'docs/simulate.md') ?? { text: '' };
const lines = fencedBlocks(page, 'sh').flatMap((block) => block.split('\n'));
const definition = lines.find((line) => line.startsWith('control()')) ?? '';
const commands = lines.filter((line) => /^(?:control|for|curl) /.test(line));

let panel: Simulator;

beforeAll(async () => {
  panel = await startSimulator();
});

afterAll(() => panel.stop());

/** Runs a shell command from the page, with the address of this simulator. */
async function shell(command: string): Promise<string> {
  const script = `${definition}\n${command}`.replaceAll('http://127.0.0.1:10319', panel.controlUrl);
  const { stdout } = await run('sh', ['-c', script]);
  return stdout;
}

it('the commands on the simulator page work, one after the other, at an address that only this machine has', async () => {
  expect(new URL(panel.controlUrl).hostname).toBe('127.0.0.1');
  expect(commands.length).toBeGreaterThan(20);
  const failed: string[] = [];
  for (const command of commands) {
    const answer = await shell(command);
    if (!/^[[{]/.test(answer) || answer.startsWith('{"error"')) failed.push(`${command}\n${answer}`);
  }
  expect(failed).toEqual([]);
});
