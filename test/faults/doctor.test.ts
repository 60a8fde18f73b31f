import { afterEach, expect, it } from 'vitest';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { reportDocument } from '../../src/doctor/render.ts';
import type { Clock } from '../../src/domain/clock.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { examined } from '../integration/doctor/examination.ts';
import { FAULT_SPEED } from '../support/fault-stage.ts';
import { startNameProxy } from '../support/name-proxy.ts';
import { TestTime } from '../support/test-time.ts';
import { DOCTOR_ROWS, type DoctorRow, type DoctorSetting } from './rows/doctor.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startSetting({ panel: options }: DoctorRow, time: TestTime): Promise<DoctorSetting> {
  const clock = time.clock();
  const panel = await startSimulator({ servers: [{ name: 'survival' }], clock, ...options });
  closers.push(() => panel.stop());
  const proxy = await startNameProxy();
  closers.push(() => proxy.stop());
  return { panel, proxy, clock };
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

interface Step {
  readonly step: string;
  readonly result: string;
  readonly cause?: string;
  readonly change?: string;
}

/** The parts of `doctor --json` that the rows check. */
interface Document {
  readonly ok: boolean;
  readonly panels: readonly {
    readonly steps: readonly Step[];
    readonly servers: readonly { readonly steps: readonly Step[] }[];
  }[];
}

/** Whether no problems were found, and the steps with a cause. */
async function documentOf(yaml: string, clock: Clock): Promise<{ ok: boolean; troubles: readonly Step[] }> {
  const { ok, panels } = reportDocument(await examined({ yaml, clock })) as Document;
  const subjects = [...panels, ...panels.flatMap((panel) => panel.servers)];
  const steps = subjects.flatMap((subject) => subject.steps);
  return { ok, troubles: steps.filter(({ cause }) => cause !== undefined) };
}

const titled = DOCTOR_ROWS.map((row) => [row.cause, row.name, row] as const);

it.each(titled)('doctor reports %s for this fault until it is over: %s', async (_cause, _name, row) => {
  const { cause, alsoReported = [], result, step, arrange, lift } = row;
  const time = new TestTime(FAULT_SPEED);
  const setting = await startSetting(row, time);
  const yaml = configuration(row, setting);
  arrange(setting);
  const { ok, troubles } = await documentOf(yaml, time.clock());
  expect(troubles).toContainEqual(
    expect.objectContaining({ step, result, cause, change: CAUSES[cause].remedy }),
  );
  expect(new Set(troubles.map((trouble) => trouble.cause))).toEqual(new Set([cause, ...alsoReported]));
  expect(ok).toBe(result === 'warning');
  lift(setting);
  expect(await documentOf(yaml, time.clock())).toEqual({ ok: true, troubles: [] });
});
