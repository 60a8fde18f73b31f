import fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LogOutput } from '../../../src/app/log.ts';

const FD = 2;

/** How a device reacts to a write: it accepts this many bytes, or fails. */
type Answer = number | 'ENOSPC' | 'EPIPE' | 'EAGAIN';

let written: string;
let answers: Answer[];

beforeEach(() => {
  vi.useFakeTimers();
  written = '';
  answers = [];
  const write = (_fd: number, bytes: string | Uint8Array) => {
    const text = Buffer.from(bytes).toString();
    const answer = answers.shift() ?? text.length;
    if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer });
    written += text.slice(0, answer);
    return answer;
  };
  vi.spyOn(fs, 'writeSync').mockImplementation(write);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a line', () => {
  it.each(['ENOSPC', 'EPIPE'] as const)('is dropped and counted if its write fails with %s', (code) => {
    const output = new LogOutput(FD);
    answers = [code];
    output.write('one\n');
    expect(output.dropped).toBe(1);
    output.write('two\n');
    expect(written).toBe('two\n');
    expect(output.dropped).toBe(1);
  });

  it('is written completely if the device accepts it in parts', () => {
    const output = new LogOutput(FD);
    answers = [2, 1];
    output.write('one\n');
    expect(written).toBe('one\n');
  });

  it('does not corrupt other lines when a full disk cuts it off', () => {
    const output = new LogOutput(FD);
    answers = [2, 'ENOSPC'];
    output.write('one\n');
    output.write('two\n');
    output.write('three\n');
    expect(written).toBe('on\ntwo\nthree\n');
    expect(output.dropped).toBe(1);
  });
});

describe('a reader that is slower than the log', () => {
  it('gets every line later, in order', () => {
    const output = new LogOutput(FD);
    answers = [1, 'EAGAIN', 'EAGAIN'];
    output.write('one\n');
    output.write('two\n');
    expect(written).toBe('o');
    vi.advanceTimersByTime(100);
    expect(written).toBe('one\ntwo\n');
    expect(output.dropped).toBe(0);
  });

  it('uses a bounded amount of memory: lines beyond it are dropped and counted', () => {
    const output = new LogOutput(FD);
    answers = ['EAGAIN'];
    for (let index = 0; index < 20; index += 1) output.write(`${'x'.repeat(99_999)}\n`);
    expect(output.dropped).toBe(10);
    vi.advanceTimersByTime(50);
    expect(written).toHaveLength(1_000_000);
  });
});
