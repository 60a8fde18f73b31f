import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Screen } from '../../../src/console/screen.ts';
import { VirtualTerminal } from './virtual-terminal.ts';

const ignore = () => undefined;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a screen of pipes', () => {
  it('reads its input line by line, also what came before it is requested', async () => {
    const stdin = new PassThrough();
    stdin.write('one\r\ntwo\nthree');
    const streams = { stdin, stdout: new PassThrough(), stderr: new PassThrough() };
    const screen = new Screen({ ...streams, color: false, onInterrupt: ignore });
    await turn();
    stdin.end();
    await turn();
    const lines: string[] = [];
    for await (const line of screen.input ?? []) lines.push(line);
    expect(lines).toEqual(['one', 'two', 'three']);
    screen.close();
  });

  it('releases an input that stays open', () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    new Screen({ stdin, stdout, stderr, color: false, onInterrupt: ignore }).close();
    expect(stdin.destroyed).toBe(true);
  });
});

describe('an interactive screen', () => {
  let screen: Screen | undefined;

  afterEach(() => screen?.close());

  function open(columns = 40) {
    const stdin = new PassThrough();
    const stdout = new VirtualTerminal(columns);
    const onInterrupt = vi.fn<() => void>();
    const stderr = new PassThrough();
    screen = new Screen({ stdin, stdout, stderr, color: false, prompt: 'lobby> ', onInterrupt });
    const type = async (keys: string) => {
      // One key at a time, as in a terminal.
      for (const key of keys) {
        stdin.write(key);
        await turn();
      }
    };
    return { screen, stdout, onInterrupt, type };
  }

  it('shows lines above the line being typed', async () => {
    const { screen, stdout, type } = open();
    await type('say he');
    screen.print('one\ntwo');
    expect(stdout.rows).toEqual(['one', 'two', 'lobby> say he']);
    await type('llo');
    screen.note('lobby is running');
    expect(stdout.rows).toEqual(['one', 'two', '-- lobby is running', 'lobby> say hello']);
  });

  it('shows lines above a wrapped line, wherever the cursor is', async () => {
    const { screen, stdout, type } = open(20);
    await type('say one two three four five six');
    const typed = ['lobby> say one two t', 'hree four five six'];
    screen.print('a');
    expect(stdout.rows).toEqual(['a', ...typed]);
    // Ctrl-A moves the cursor to the start of the line.
    await type('\u0001');
    screen.print('b\nc');
    expect(stdout.rows).toEqual(['a', 'b', 'c', ...typed]);
    await type('X');
    screen.print('d');
    expect(stdout.rows).toEqual(['a', 'b', 'c', 'd', 'lobby> Xsay one two', 'three four five six']);
  });

  it('still shows lines after it is closed', () => {
    const { screen, stdout } = open();
    screen.close();
    screen.print('late');
    expect(stdout.rows.at(-1)).toBe('late');
  });
});
