import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import { examined, problemsOf, shownOf } from '../../support/doctor.ts';
import { yamlOf } from '../../support/stage.ts';

// Which cause each fault has is in test/faults/doctor.test.ts.

beforeEach(() => {
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, '');
  }
});

afterEach(() => vi.unstubAllEnvs());

/** A configuration of one server, on a panel at any address. */
const yamlFor = (url: string, settings: readonly string[] = []) =>
  yamlOf({ url, apiKey: 'ptlc_TopSecretKey' }, [...settings, 'servers: [{ id: 1a7ce997 }]']);

describe('a problem of a panel', () => {
  it('is a failure if the panel is not reached, and shows no password', async () => {
    const settings = ['proxy_url: http://me:TopSecretPassword@127.0.0.1:1'];
    const report = await examined({ yaml: yamlFor('https://panel.invalid', settings) });
    expect(problemsOf(report)).toMatchObject([{ cause: 'proxy', result: 'failed', nodes: [], servers: [] }]);
    expect(report.panels[0]?.servers).toMatchObject([{ result: 'untested' }]);
    expect(isAllHealthy(report)).toBe(false);
    expect(shownOf(report)).toContain(CAUSES.proxy.remedy);
    expect(shownOf(report)).not.toMatch(/ptl[ac]_(?!…)|eyJ|TopSecret/);
  });

  it("fails like serve if the environment's proxy isn't a valid address", async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://me:TopSecretPassword@');
    const running = examined({ yaml: yamlFor('https://panel.example.com') });
    await expect(running).rejects.toThrow(/HTTPS_PROXY is not a proxy's address/);
    await expect(running).rejects.not.toThrow('TopSecret');
  });
});
