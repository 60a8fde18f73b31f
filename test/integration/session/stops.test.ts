import { expect, it } from 'vitest';
import { STOP_REASONS } from '../../../src/domain/stops.ts';
import { daemonLine } from '../../../src/simulator/crash-reactions.ts';
import { configFor } from '../../support/exporter.ts';
import { observed, simulated } from '../../support/stage.ts';

// `test/unit/fleet/stop-decisions.test.ts` tests the reasons.
it("a stop isn't confused by a game's output, with 10,000 lines around it", async () => {
  const servers = ['survival', 'lobby'].map((name) => ({ name, profile: 'idle' as const }));
  const panel = await simulated({ servers, appName: 'Panel' });
  const exporter = await observed({ yaml: configFor(panel) });
  await exporter.until('gameserver_state', { server: 'survival', state: 'running' }, 1);
  for (const text of ['Exit code: 0', 'Out of memory: true', 'Exit code: 137']) {
    panel.print('survival', daemonLine(text, { daemon: 'pterodactyl', appName: 'Panel' }));
    panel.print('survival', text);
  }
  const flood = () => {
    for (let line = 0; line < 5_000; line += 1) panel.print('survival', `Exit code: ${line}`);
  };
  flood();
  panel.crash('survival', { code: 1 });
  flood();
  await exporter.until('gameserver_stops_total', { server: 'survival', reason: 'crashed' }, 1);
  for (const server of ['survival', 'lobby']) {
    for (const reason of STOP_REASONS) {
      const isCounted = server === 'survival' && reason === 'crashed';
      const counted = await exporter.value('gameserver_stops_total', { server, reason });
      expect(counted, `${server} ${reason}`).toBe(Number(isCounted));
    }
  }
  expect(await exporter.value('gameserver_last_exit_code', { server: 'survival' })).toBe(1);
  expect(await exporter.value('gameserver_console_lines_total', { server: 'survival' })).toBeGreaterThan(
    10_000,
  );
});
