// One monitored server with its session and record on a stopped clock, which receives events.
import { PanelSurroundings } from '../../src/fleet/panel-surroundings.ts';
import { serverLog } from '../../src/fleet/server-log.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { sessionLog } from '../../src/fleet/session-log.ts';
import { Session } from '../../src/session/session.ts';
import type { SocketListener } from '../../src/session/socket.ts';
import { FakeGateway, FakeSocket, SETTINGS, socketsOpenedBy } from '../../test/support/fleet-bench.ts';
import { collectingLogger } from '../../test/support/logger.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { target } from '../../test/support/targets.ts';

/** Creates a server that streams. */
export async function receivingServer() {
  const clock = new ManualClock();
  const lines = collectingLogger();
  const log = serverLog(lines, clock);
  const gateway = new FakeGateway();
  const known = new PanelSurroundings({ clock, gateway });
  const sockets: { readonly socket: FakeSocket; readonly listener: SocketListener }[] = [];
  const record = new ServerRecord(
    target({ id: 's', node: 'n1' }),
    { socket: 60_000, poll: 60_000 },
    { clock, log },
  );
  let badMessages = 0;
  let backups = 0;
  const session = new Session(
    {
      clock,
      log: sessionLog(log),
      random: () => 0.5,
      panel: gateway,
      telemetry: { badMessage: () => (badMessages += 1) },
      settings: SETTINGS,
      surroundings: (of, isRunning) => known.of(of, { isRunning, hasRoom: true, ...SETTINGS }),
      backupCompleted: () => (backups += 1),
      sockets: socketsOpenedBy((url, listener) => {
        const socket = new FakeSocket(url, listener);
        sockets.push({ socket, listener });
        return socket;
      }),
    },
    record,
  );
  const see = (isRunning: boolean) =>
    session.sees(known.of(record, { isRunning, hasRoom: true, ...SETTINGS }));
  /** All log lines except debug lines. */
  const logged = () => lines.lines.filter(({ level }) => level !== 'debug');
  see(true);
  await clock.advance(10);
  return {
    /** Receives these texts on the first socket until it ends. Returns how many were received. */
    receive: (texts: readonly Buffer[]): number => {
      const [first] = sockets;
      let received = 0;
      for (const text of texts) {
        if (first === undefined || first.socket.ended !== undefined) break;
        first.listener.message(text, false);
        received += 1;
      }
      return received;
    },
    /** The sizes of everything that a node's events could let grow. */
    sizes: () => ({
      sockets: sockets.length,
      timers: clock.pending,
      logLines: logged().length,
      logBytes: JSON.stringify(logged()).length,
      calls: gateway.asked('credentials').length,
      snapshotBytes: JSON.stringify(record.snapshot(clock.now(), clock)).length,
      unwantedStops: record.snapshot(clock.now(), clock).unwanted_stops.length,
    }),
    snapshot: () => record.snapshot(clock.now(), clock),
    counts: () => ({ badMessages, backups }),
    stop: async () => {
      see(false);
      await session.closing;
      log.flush();
    },
  };
}
