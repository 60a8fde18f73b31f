import { expect, it } from 'vitest';
import { parseInThread } from '../../../src/config/parse-thread.ts';

// Among the sources the thread's program has another extension than in a build: here it can't be started.
it('says that the thread failed, and why', async () => {
  const failure = parseInThread('panels: []', 'config.yaml', {});
  await expect(failure).rejects.toThrow('the thread that reads the configuration ended before it was done');
  await expect(failure).rejects.toHaveProperty('cause.message', expect.stringContaining('parse-worker'));
});
