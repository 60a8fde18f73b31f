import { systemNames } from '../../../src/addresses/name-lookups.ts';
import { socketAccess, spokenDialect } from '../../../src/app/panel-access.ts';
import { panelApi } from '../../../src/commands/api-client.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { type ConsolePlan, ConsoleRun } from '../../../src/console/console-run.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { testScreen } from '../../support/console-screen.ts';
import { eventually } from '../../support/eventually.ts';
import { configFor } from '../../support/exporter.ts';
import { TestTime } from '../../support/test-time.ts';

const SPEED = 40;

/** A console and its output. */
export interface ConsoleUnderTest {
  readonly run: ConsoleRun;
  /** The lines of the server's console. */
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly outcome: ReturnType<ConsoleRun['run']>;
  /** Types a line. Undefined ends the input. */
  type(line: string | undefined): void;
  /** Waits for a line or a note that equals or matches this. */
  shows(wanted: string | RegExp): Promise<void>;
}

/** The plan of a console, and whether it reads input. */
interface Opening extends Partial<ConsolePlan> {
  readonly readsInput?: boolean;
}

/** A simulated panel, and consoles for its servers. */
export interface ConsoleStage {
  readonly panel: Simulator;
  readonly time: TestTime;
  open(opening?: Opening): Promise<ConsoleUnderTest>;
  stop(): Promise<void>;
}

export async function startStage(options: SimulatorOptions = {}): Promise<ConsoleStage> {
  const time = new TestTime(SPEED);
  const panel = await startSimulator({
    servers: [{ name: 'survival', profile: 'idle', consoleLinesPerSecond: 0 }],
    clock: time.clock(),
    ...options,
  });
  const opened: (ConsoleUnderTest & { readonly close: () => Promise<void> })[] = [];
  return {
    panel,
    time,
    open: async (opening = {}) => {
      const made = await openConsole(panel, time, opening);
      opened.push(made);
      return made;
    },
    stop: async () => {
      for (const { run } of opened) run.end();
      await Promise.all(opened.map(({ outcome }) => outcome));
      await Promise.all(opened.map(({ close }) => close()));
      await panel.stop();
    },
  };
}

async function openConsole(simulator: Simulator, time: TestTime, { readsInput, ...plan }: Opening) {
  const { config, issues } = await parseConfig(configFor(simulator), 'test', {});
  const panel = config?.panels[0];
  const [target] = panel?.servers ?? [];
  if (panel === undefined || target === undefined) throw new Error(JSON.stringify(issues));
  const person = testScreen({ readsInput });
  const clock = time.clock();
  const dialect = spokenDialect(panel);
  const api = panelApi(panel, clock, dialect);
  const run = new ConsoleRun(
    { interactive: false, ...plan },
    {
      sockets: socketAccess(panel, clock, systemNames().forPanel(), dialect),
      settings: panel,
      target,
      keySource: 'a test',
      screen: person.screen,
      clock,
      random: () => 0,
      api,
    },
  );
  const { lines } = person;
  return {
    run,
    outcome: run.run(),
    lines,
    get notes() {
      return person.notes;
    },
    type: (line: string | undefined) => (line === undefined ? person.endInput() : person.type(line)),
    close: () => api.close(),
    shows: (wanted: string | RegExp) =>
      eventually(() => {
        const all = [...lines, ...person.notes];
        const found = all.some((line) => (typeof wanted === 'string' ? line === wanted : wanted.test(line)));
        if (!found) throw new Error(`expected ${String(wanted)}, got:\n${all.join('\n')}`);
      }),
  };
}
