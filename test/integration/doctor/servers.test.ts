import { afterEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { examined, problemsOf, shownOf } from '../../support/doctor.ts';
import { configFor, fastClock } from '../../support/exporter.ts';

// Which cause each fault has is in test/faults/doctor.test.ts.

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const SERVER = 'survival';

describe('a problem of one server', () => {
  it.each<readonly [CauseCode, string, (panel: Simulator) => void]>([
    ['suspended', 'refused by the panel', (panel) => panel.setConflict(SERVER, 'suspended')],
    ['node_unreachable', 'polled', (panel) => panel.setNodeDown(SERVER, true)],
    ['closed', 'closed by the node', (panel) => panel.failSockets({ kind: 'close-on-open', code: 1011 })],
    [
      'socket_address',
      'at an address with a password',
      (panel) => panel.advertise(SERVER, 'wss://me:secret@127.0.0.1/ws'),
    ],
    ['no_stats', 'open but silent', (panel) => panel.failSockets({ kind: 'silence' })],
  ])('%s: %s', async (cause, _what, arrange) => {
    const clock = fastClock();
    const panel = await startSimulator({ servers: [{ name: SERVER }], clock });
    closers.push(() => panel.stop());
    arrange(panel);
    const yaml = configFor(panel);
    const polled = yaml.replace(`"${SERVER}" }`, `"${SERVER}", mode: poll }`);
    const report = await examined({ yaml: cause === 'node_unreachable' ? polled : yaml, clock });
    expect(problemsOf(report)).toMatchObject([{ cause, result: 'failed', servers: [SERVER] }]);
    const shown = shownOf(report);
    expect(shown).toContain(CAUSES[cause].remedy);
    expect(shown).not.toMatch(/ptlc_|eyJ|me:secret/);
  });
});

describe('a server that the panel blocks', () => {
  async function held(expected: string, arrange: (panel: Simulator) => void, options: SimulatorOptions = {}) {
    const clock = fastClock();
    const panel = await startSimulator({ servers: [{ name: SERVER }], clock, ...options });
    closers.push(() => panel.stop());
    arrange(panel);
    const yaml = configFor(panel).replace(`"${SERVER}" }`, `"${SERVER}", expect: ${expected} }`);
    return examined({ yaml, clock });
  }

  it.each([
    ['any', 'suspended'],
    ['auto', 'restoring_backup'],
  ] as const)('is no failure if expect is %s: %s', async (expected, conflict) => {
    const report = await held(expected, (panel) => panel.setConflict(SERVER, conflict));
    expect(isAllHealthy(report)).toBe(true);
    expect(problemsOf(report)).toEqual([]);
    expect(shownOf(report)).toMatch(new RegExp(`; not a problem with expect: ${expected}\\n`));
  });

  it.each<readonly [string, SimulatorOptions]>([
    ['its socket', { suspendedCredentials: 'issue', conflictResources: 'answer' }],
    ['its resources', { conflictResources: 'answer' }],
  ])('is no failure if it is only visible in %s', async (_what, options) => {
    expect(isAllHealthy(await held('any', (panel) => panel.suspend(SERVER), options))).toBe(true);
  });

  it('is a failure if it is expected to run', async () => {
    const report = await held('running', (panel) => panel.setConflict(SERVER, 'suspended'));
    expect(isAllHealthy(report)).toBe(false);
  });

  it('hides no other problem', async () => {
    const report = await held('any', (panel) => panel.failRest({ kind: 'refuse', status: 404 }));
    expect(isAllHealthy(report)).toBe(false);
  });
});
