import { PassThrough, Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PipeScreen, TerminalScreen } from '../../../src/console/screen.ts';
import { VirtualTerminal } from './virtual-terminal.ts';

const text = (stream: PassThrough) => String(stream.read() ?? '');

describe('a pipe screen', () => {
  it("writes the server's lines to one stream and its own lines to the other", () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const screen = new PipeScreen({ stdout, stderr, color: false });
    screen.note('connected');
    screen.lines(['a', 'b']);
    expect(text(stdout)).toBe('a\nb\n');
    expect(text(stderr)).toBe('-- connected\n');
    expect(screen.input).toBeUndefined();
    screen.close();
  });

  it('drops and counts lines if the output is read too slowly', () => {
    const reads: (() => void)[] = [];
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => {
        reads.push(done);
      },
    });
    const stderr = new PassThrough();
    const screen = new PipeScreen({ stdout, stderr, color: false });
    const line = 'x'.repeat(4_000);
    for (let count = 0; count < 2_000; count += 1) screen.lines([line]);
    expect(stdout.writableLength).toBeLessThan(5 * 1_048_576);
    const written = Math.round(stdout.writableLength / 4_001);
    while (reads.length > 0) reads.shift()?.();
    screen.lines([line]);
    expect(text(stderr)).toBe(`-- ${2_000 - written} lines were dropped: the output is read too slowly\n`);
  });

  it('reads its input line by line, not before it is requested, and releases it', async () => {
    const stdin = new PassThrough();
    stdin.write('one\r\ntwo\nthree');
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    const screen = new PipeScreen({ ...streams, color: false, stdin });
    await turn();
    expect(stdin.readableLength).toBe(14);
    stdin.end();
    const lines: string[] = [];
    for await (const line of screen.input ?? []) lines.push(line);
    expect(lines).toEqual(['one', 'two', 'three']);
    screen.close();
  });
});

describe('an interactive screen', () => {
  let screen: TerminalScreen | undefined;

  afterEach(() => screen?.close());

  function open(columns = 40, color = false) {
    const stdin = new PassThrough();
    const stdout = new VirtualTerminal(columns);
    const onInterrupt = vi.fn<() => void>();
    screen = new TerminalScreen({ stdin, stdout, color, prompt: 'lobby> ', onInterrupt });
    const type = async (keys: string) => {
      // One key at a time, as a person types.
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
    screen.lines(['one', 'two']);
    expect(stdout.rows).toEqual(['one', 'two', 'lobby> say he']);
    await type('llo');
    screen.note('lobby is running');
    expect(stdout.rows).toEqual(['one', 'two', '-- lobby is running', 'lobby> say hello']);
  });

  it('shows lines above a wrapped line, wherever the cursor is', async () => {
    const { screen, stdout, type } = open(20);
    await type('say one two three four five six');
    const typed = ['lobby> say one two t', 'hree four five six'];
    screen.lines(['a']);
    expect(stdout.rows).toEqual(['a', ...typed]);
    // Ctrl-A moves to the beginning of the line.
    await type('\u0001');
    screen.lines(['b', 'c']);
    expect(stdout.rows).toEqual(['a', 'b', 'c', ...typed]);
    await type('X');
    screen.lines(['d']);
    expect(stdout.rows).toEqual(['a', 'b', 'c', 'd', 'lobby> Xsay one two', 'three four five six']);
  });

  it('returns the typed line and leaves it on the screen', async () => {
    const { screen, stdout, type } = open();
    const lines = screen.input[Symbol.asyncIterator]();
    await type('list\r');
    expect(await lines.next()).toEqual({ done: false, value: 'list' });
    screen.lines(['There are 3 players']);
    expect(stdout.rows).toEqual(['lobby> list', 'There are 3 players', 'lobby>']);
    // Ctrl-D on an empty line ends the input.
    await type('\u0004');
    expect(await lines.next()).toMatchObject({ done: true });
  });

  it('ends on Ctrl-C on an empty line, and otherwise discards the line', async () => {
    const { screen, stdout, onInterrupt, type } = open();
    await type('stop\u0003');
    expect(onInterrupt).not.toHaveBeenCalled();
    screen.lines(['a']);
    expect(stdout.rows).toEqual(['a', 'lobby>']);
    await type('\u0003');
    expect(onInterrupt).toHaveBeenCalledOnce();
  });

  it('still shows lines after it is closed', () => {
    const { screen, stdout } = open();
    screen.close();
    screen.lines(['late']);
    expect(stdout.rows.at(-1)).toBe('late');
  });

  it('dims its own lines if colors are enabled', () => {
    const { screen, stdout } = open(40, true);
    screen.note('connected');
    expect(stdout.raw).toContain('\u001b[2m-- connected\u001b[0m\n');
  });
});
