import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProcessLock } from '../../../src/storage/process-lock.ts';
import { endProcesses, launch, type RunningProcess } from '../../support/process.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lock-'));
  path = join(folder, 'state.lock');
});

afterEach(async () => {
  await endProcesses();
  await rm(folder, { recursive: true });
});

/** Starts another process that holds the lock. */
async function otherOwner(): Promise<RunningProcess> {
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('held'))`;
  const other = launch(process.execPath, ['-e', program]);
  await other.printed(/held/);
  return other;
}

describe('a lock', () => {
  it('is held by one owner at a time, and again by another after its end', async () => {
    const [one, other] = [new ProcessLock(path), new ProcessLock(path)];
    expect(await one.hold()).toBe(true);
    expect(await other.hold()).toBe(false);
    expect(await one.hold()).toBe(true);
    await one.release();
    expect(await readdir(folder)).toEqual([]);
    expect(await other.hold()).toBe(true);
    await other.release();
  });

  it('ends with its process, even if that is killed', async () => {
    const lock = new ProcessLock(path);
    const other = await otherOwner();
    expect(await lock.hold()).toBe(false);
    other.kill('SIGKILL');
    await other.ended;
    expect(await readdir(folder)).toEqual(['state.lock']);
    expect(await lock.hold()).toBe(true);
    await lock.release();
  });

  it('is not held any more once another process has replaced the socket', async () => {
    const lock = new ProcessLock(path);
    await lock.hold();
    await rm(path);
    const other = await otherOwner();
    expect(await lock.hold()).toBe(false);
    await lock.release();
    expect(await readdir(folder)).toEqual(['state.lock']);
    other.kill('SIGKILL');
  });

  it('whose socket was removed is taken again', async () => {
    const lock = new ProcessLock(path);
    await lock.hold();
    await rm(path);
    expect(await lock.hold()).toBe(true);
    expect(await readdir(folder)).toEqual(['state.lock']);
    await lock.release();
  });

  it('replaces a file that is no socket', async () => {
    await writeFile(path, '');
    const lock = new ProcessLock(path);
    expect(await lock.hold()).toBe(true);
    await lock.release();
  });

  it('fails if its folder is missing, or its path is too long for a socket', async () => {
    await expect(new ProcessLock(join(folder, 'missing', 'lock')).hold()).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENOENT|EACCES)$/),
    });
    const long = join(folder, 'a'.repeat(120));
    await mkdir(long);
    await expect(new ProcessLock(join(long, 'lock')).hold()).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  });
});
