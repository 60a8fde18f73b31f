import { afterEach, expect, it, vi } from 'vitest';
import { invocation, shellWord } from '../../../src/commands/command-line.ts';

const { argv } = process;

afterEach(() => {
  vi.unstubAllEnvs();
  process.argv = argv;
});

it.each([
  ['start', '/app/dist/cli.js', 'npm start --'],
  ['', '/nowhere/dist/cli.js', 'node /nowhere/dist/cli.js'],
  ['', `${process.cwd()}/dist/cli.js`, 'node dist/cli.js'],
  ['test', '/usr/local/bin/gameserver-exporter', 'gameserver-exporter'],
])('the program started by npm run "%s" as %s is called %s', (event, script, called) => {
  vi.stubEnv('npm_lifecycle_event', event);
  process.argv = ['node', script];
  expect(invocation()).toBe(called);
});

it.each([
  ['config.yaml', 'config.yaml'],
  ["my panel's.yaml", String.raw`'my panel'\''s.yaml'`],
])('%s is one word of a shell command: %s', (text, word) => {
  expect(shellWord(text)).toBe(word);
});
