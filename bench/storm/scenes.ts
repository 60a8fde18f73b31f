// The scenes of the benchmark `storm`: how each begins, how long it lasts, and how it ends.

import { setTimeout as delay } from 'node:timers/promises';
import type { ProgramProcess } from '../program-process.ts';
import type { StormPanelProgram } from './panel.ts';

/** The parts on which a scene acts. */
export interface Stage {
  readonly panel: ProgramProcess<StormPanelProgram>;
  /** Reloads the exporter's configuration with another poll interval. */
  readonly reload: () => Promise<void>;
}

export interface Scene {
  readonly name: string;
  readonly title: string;
  /** Seconds from the beginning to the end; 0 if there is no end. */
  readonly seconds: number;
  readonly begin: (stage: Stage) => Promise<unknown>;
  readonly end?: (stage: Stage) => Promise<unknown>;
  /** Whether the scene concerns only the exporter. */
  readonly isExporters?: boolean;
}

const RENAMED = 1_000;

const LOOK_MS = 250;

/** Resolves when the next complete read of the server list ends. It may have begun earlier. */
async function listRead(panel: Stage['panel']): Promise<void> {
  const before = (await panel.ask('counts', undefined)).walks;
  while ((await panel.ask('counts', undefined)).walks === before) await delay(LOOK_MS);
}

export const SCENES: readonly Scene[] = [
  {
    name: 'drop',
    title: 'every socket drops once',
    seconds: 0,
    begin: ({ panel }) => panel.ask('dropAll', undefined),
  },
  {
    name: 'refuse-node',
    title: 'a node with a tenth of the servers refuses for 20 s',
    seconds: 20,
    begin: ({ panel }) => panel.ask('refuse', 'one'),
    end: ({ panel }) => panel.ask('refuse', 'none'),
  },
  {
    name: 'refuse-all',
    title: 'every node refuses for 20 s',
    seconds: 20,
    begin: ({ panel }) => panel.ask('refuse', 'all'),
    end: ({ panel }) => panel.ask('refuse', 'none'),
  },
  {
    name: 'gone',
    title: 'panel and nodes are gone for a minute',
    seconds: 60,
    begin: ({ panel }) => panel.ask('close', undefined),
    end: ({ panel }) => panel.ask('reopen', undefined),
  },
  {
    name: 'key',
    title: 'the API key is revoked for a minute',
    seconds: 60,
    begin: ({ panel }) => panel.ask('setKeyValid', false),
    end: ({ panel }) => panel.ask('setKeyValid', true),
  },
  {
    name: 'half-node',
    title: 'half of the large node is unreachable for a minute',
    seconds: 60,
    begin: ({ panel }) => panel.ask('cutHalfOfNode', true),
    end: ({ panel }) => panel.ask('cutHalfOfNode', false),
  },
  {
    name: 'reload',
    title: 'SIGHUP with another poll interval',
    seconds: 0,
    begin: ({ reload }) => reload(),
    isExporters: true,
  },
  {
    name: 'rename',
    title: `the server list returns with ${RENAMED} changed names`,
    seconds: 0,
    begin: async ({ panel }) => {
      await panel.ask('rename', RENAMED);
      await listRead(panel);
    },
    isExporters: true,
  },
];
