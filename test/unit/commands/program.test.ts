import { afterEach, beforeEach, expect, it, type MockInstance, vi } from 'vitest';
import { main } from '../../../src/commands/program.ts';

let out: MockInstance<typeof process.stdout.write>;
let err: MockInstance<typeof process.stderr.write>;
let complaints: MockInstance<typeof console.error>;
let listeners: readonly unknown[];

beforeEach(() => {
  listeners = process.stdout.listeners('error');
  out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  complaints = vi.spyOn(console, 'error').mockReturnValue(undefined);
});
afterEach(() => {
  process.exitCode = undefined;
  for (const listener of process.stdout.listeners('error'))
    if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void);
  vi.restoreAllMocks();
});

const run = (...args: readonly string[]) => main(['node', 'gameserver-exporter', ...args]);
const text = ({ mock }: { readonly mock: { readonly calls: readonly (readonly unknown[])[] } }) =>
  mock.calls.map(([written]) => String(written)).join('');

it.each<[readonly string[], number]>([
  [['--version'], 0],
  [['--help'], 0],
  [['check', '--help'], 0],
  [['nonsense'], 2],
  [['--nonsense'], 2],
  [['check', '--nonsense'], 2],
  [['check', 'nowhere.yaml'], 1],
  [['doctor', 'nowhere.yaml'], 1],
  [['serve', 'nowhere.yaml'], 1],
  [['--config', 'nowhere.yaml'], 1],
  [[], 1],
  [['serve', '--web.listen-address', 'nonsense'], 2],
])('the arguments %j have the exit code %i', async (args, code) => {
  expect(await run(...args)).toBe(code);
});

it('an unknown command is answered with the usage, on standard error', async () => {
  await run('nonsense');
  expect([text(out), text(err)]).toEqual(['', expect.stringContaining('(run with --help for usage)')]);
});

it('the help names every command', async () => {
  await run('--help');
  for (const name of ['serve', 'init', 'check', 'doctor', 'hash-password', 'console', 'demo', 'simulate'])
    expect(text(out)).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
});

it('a failure is printed without a stack trace', async () => {
  await run('serve', 'nowhere.yaml');
  expect(text(complaints)).toMatch(/^error: .*nowhere\.yaml/);
  expect(text(complaints)).not.toContain('    at ');
});
