// Compares doctor's causes with those in the metrics.
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { isAllHealthy } from '../../src/doctor/report.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { examined, foundProblems } from '../support/doctor.ts';
import { expectSameFromDoctor } from '../support/fault-doctor.ts';
import { FAULT_SPEED } from '../support/fault-stage.ts';
import { startNameProxy } from '../support/name-proxy.ts';
import { TestTime } from '../support/test-time.ts';
import { ROWS_WITH_A_CAUSE } from './rows/all.ts';
import { TLS_ROWS } from './rows/certificates.ts';
import { DOCTOR_ROWS, type DoctorRow, type DoctorSetting } from './rows/doctor.ts';

const closers: (() => Promise<void>)[] = [];
let trusted: Authority;
let unknown: Authority;

beforeAll(async () => {
  [trusted, unknown] = await Promise.all([createAuthority(), createAuthority()]);
});

afterAll(async () => {
  await Promise.all([trusted.end(), unknown.end()]);
});

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

it.each(ROWS_WITH_A_CAUSE)('doctor reports the cause that the metrics show: %s', async (_name, row) =>
  expectSameFromDoctor(row),
);

it.each(TLS_ROWS.map((row) => [row.name, row] as const))(
  'doctor reports the cause that the metrics show: %s',
  async (_name, { play, cause }) => expectSameFromDoctor({ ...(await play({ trusted, unknown })), cause }),
);

async function startSetting({ panel: options }: DoctorRow, time: TestTime): Promise<DoctorSetting> {
  const panel = await startSimulator({ servers: [{ name: 'survival' }], clock: time.clock(), ...options });
  closers.push(() => panel.stop());
  const proxy = await startNameProxy();
  closers.push(() => proxy.stop());
  return { panel, proxy };
}

function configuration({ settings = [], discover }: DoctorRow, { panel, proxy }: DoctorSetting): string {
  const servers = panel.servers.map(({ identifier, name }) => `{ id: "${identifier}", name: "${name}" }`);
  return [
    'panels:',
    '  - name: main',
    `    url: ${panel.url}`,
    `    api_key: ${panel.apiKey}`,
    `    proxy_url: http://127.0.0.1:${proxy.port}`,
    ...settings.map((line) => `    ${line}`),
    discover === undefined ? `    servers: [${servers.join(', ')}]` : `    discover: { ${discover} }`,
  ].join('\n');
}

const titled = DOCTOR_ROWS.map((row) => [row.cause, row.name, row] as const);

it.each(titled)('doctor reports %s for this fault until it is over: %s', async (_cause, _name, row) => {
  const { cause, result, arrange, lift } = row;
  const time = new TestTime(FAULT_SPEED);
  const setting = await startSetting(row, time);
  const yaml = configuration(row, setting);
  arrange(setting);
  const report = await examined({ yaml, clock: time.clock() });
  expect(foundProblems(report)).toEqual([expect.objectContaining({ cause, result, servers: [], nodes: [] })]);
  expect(isAllHealthy(report)).toBe(result === 'warning');
  lift(setting);
  const healthy = await examined({ yaml, clock: time.clock() });
  expect(foundProblems(healthy)).toEqual([]);
  expect(isAllHealthy(healthy)).toBe(true);
});
