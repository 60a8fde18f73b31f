// Runs one program of the benchmarks in its own process, and calls its functions for the parent.

import type { Program, Question, Reply } from './program-process.ts';

// Each program is imported on demand, so that its memory and startup include only its own modules.
const PROGRAMS: Readonly<
  Record<string, () => Promise<{ readonly start: (options: never) => Promise<Program> }>>
> = {
  'simulated-panel': () => import('./fleet/simulated-panel.ts'),
  'hostile-panel': () => import('./soak/hostile-panel.ts'),
  exporter: () => import('./fleet/exporter.ts'),
  'bare-client': () => import('./ingest/bare-client.ts'),
  'connect-node': () => import('./connect/node.ts'),
  'connecting-sessions': () => import('./connect/sessions.ts'),
  'connecting-ws': () => import('./connect/bare.ts'),
  'frame-costs': () => import('./console-flood/frame-costs.ts'),
  'exposition-render': () => import('./scrape/exposition-render.ts'),
  stranger: () => import('./strangers/node.ts'),
  'storm-panel': () => import('./storm/panel.ts'),
  'storm-client': () => import('./storm/client.ts'),
  'game-answerers': () => import('./query/answerers.ts'),
  'query-asker': () => import('./query/asker.ts'),
  'served-fleet': () => import('./visitors/served-fleet.ts'),
  visitor: () => import('./visitors/visitor.ts'),
  'prom-client-render': () => import('./scrape/prom-client-render.ts'),
};

const [name = '', options = '{}'] = process.argv.slice(2);
const load = PROGRAMS[name];
if (load === undefined) throw new Error(`expected one of ${Object.keys(PROGRAMS).join(', ')}, got "${name}"`);

// The channel closes when the parent ends or stops this program.
process.on('disconnect', () => process.exit(0));
const { start } = await load();
const program = await start(JSON.parse(options) as never);
process.on('message', (question: Question) => void answer(question));
reply({ id: 0, value: undefined });

async function answer({ id, name: asked, argument }: Question): Promise<void> {
  try {
    reply({ id, value: await program[asked]?.(argument as never) });
  } catch (error) {
    reply({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function reply(message: Reply): void {
  // An error is ignored, because the parent may have closed the channel in the meantime.
  process.send?.(message, undefined, {}, () => undefined);
}
