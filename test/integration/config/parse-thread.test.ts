import { expect, it } from 'vitest';
import { loadInThread } from '../../../src/config/load-config.ts';

it('reports that the thread failed, and why', async () => {
  const failure = loadInThread(undefined as unknown as string, {});
  await expect(failure).rejects.toThrow('the thread that parses the configuration exited before it was done');
  await expect(failure).rejects.toHaveProperty('cause.message', expect.stringContaining('undefined'));
});
