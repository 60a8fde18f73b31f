import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/simulator-interface.ts';
import { AlertChain } from '../support/alert-chain.ts';
import type { Notification } from '../support/alertmanager.ts';
import { hasProgram } from '../support/has-program.ts';
import { endPrograms } from '../support/program.ts';

const hasPrometheus = hasProgram('prometheus');
const hasAlertmanager = hasProgram('prometheus-alertmanager');

interface Plan {
  /** The speed, relative to real time. */
  readonly factor: number;
  /** The number of servers that crash within a minute. */
  readonly stormServers: number;
  /** The number of repetitions of the scenario, an hour apart. */
  readonly rounds: number;
  /**
   * Whether the times must be those in the documentation. In a fast run, a busy machine is too slow
   * for them.
   */
  readonly isTimed: boolean;
}

const PLANS: Readonly<Record<string, Plan>> = {
  quick: { factor: 60, stormServers: 60, rounds: 1, isTimed: false },
  all: { factor: 10, stormServers: 500, rounds: 2, isTimed: true },
  real: { factor: 1, stormServers: 500, rounds: 2, isTimed: true },
};
const PLAN = PLANS[process.env['ALERTS'] ?? 'all'] ?? fail(`ALERTS is one of ${Object.keys(PLANS).join()}`);

const NODE_SERVERS = 40;

/** The duration of faults. Servers lose their data, because their tokens expire earlier. */
const FAULT_MINUTES = 12;

/** The maximum number of minutes until all alerts have ended. */
const DRAIN_MINUTES = 40;

const HOUR = 60;

/** The maximum duration of a round and of the start before it, in real milliseconds. */
const MAX_WAIT_MS = ((3 * HOUR * 60_000) / PLAN.factor) * 2 + 120_000;

/** An alert in a notification. */
interface AlertNotice {
  readonly minute: number;
  readonly receiver: string;
  readonly status: 'firing' | 'resolved';
  readonly name: string;
  readonly panel: string;
  readonly subject: string;
  /** The number of servers from which on the group is notified again. */
  readonly atLeast: string;
}

interface Round {
  /** The minute in which the faults began. */
  readonly startedAt: number;
  /** The minute in which the node gave up restarting the server. */
  readonly gaveUp: number;
  readonly exporterStopped: number;
  readonly notifications: readonly Notification[];
}

describe.skipIf(!hasPrometheus || !hasAlertmanager)('alerts from panels to a webhook', () => {
  let chain: AlertChain;

  beforeAll(async () => {
    chain = await AlertChain.start(
      new Map([
        ['crashes', panelOf(6)],
        ['storm', panelOf(PLAN.stormServers)],
        // The node of this panel doesn't restart crashed servers.
        ['outage', { ...panelOf(20), crashDetection: false }],
        ['node', panelOf(NODE_SERVERS + 4)],
        ['down', panelOf(5)],
        ['key', panelOf(5)],
      ]),
      { factor: PLAN.factor },
    );
    for (const { name } of onNode()) chain.panel('node').move(name);
    await everythingRuns();
    await everythingHasMoved();
  }, MAX_WAIT_MS);

  afterAll(async () => {
    await chain.stop();
    await endPrograms();
  });

  describe.each(Array.from({ length: PLAN.rounds }, (_, index) => index + 1))('round %i', (time) => {
    let round: Round;

    beforeAll(async () => {
      if (time > 1) await chain.pass(HOUR);
      round = await play();
      report(time);
    }, MAX_WAIT_MS);

    it('a crash after which the node restarted the server sends one warning', () => {
      const lobby = sentAbout('crashes', 'lobby');
      expect(lobby).toEqual(['crash firing GameserverCrashed']);
      expectWithin(first('GameserverCrashed', 'crashes') - round.startedAt, 2);
    });

    it('a server that the node gave up restarting sends one warning, at once', () => {
      const page = 'notify firing GameserverAutomaticRestartAborted';
      expect(sentAbout('crashes', 'modded')).toEqual([page, page.replace('firing', 'resolved')]);
      expectWithin(first('GameserverAutomaticRestartAborted', 'crashes') - round.gaveUp, 1.5);
    });

    it('many crashes within a minute send at most five notifications', () => {
      const storm = alerts().filter(({ panel }) => panel === 'storm');
      const names = new Set(storm.map(({ receiver, status, name }) => `${receiver} ${status} ${name}`));
      expect(names).toContain('page firing GameserverManyCrashed');
      expect(sentWithin('storm', 10).length).toBeLessThanOrEqual(5);
      expect(sentWithin('storm', HOUR).length).toBeLessThanOrEqual(5);
      const perAlert = new Set(storm.map(({ name, atLeast, status }) => `${name} ${atLeast} ${status}`));
      expect(storm).toHaveLength(perAlert.size);
    });

    it.each([
      ['outage', 'GameserverManyStopped'],
      ['node', 'GameserverNodeDown'],
      ['down', 'GameserverPanelDown'],
      ['key', 'GameserverPanelKeyRefused'],
    ])('an outage of panel %s sends only %s and its end, and nothing for single servers', (panel, name) => {
      // All alerts of a notification have the same name.
      const everything = round.notifications
        .flatMap((sent) => read(sent).slice(0, 1))
        .filter((alert) => alert.panel === panel);
      const page = { receiver: 'page', name, panel };
      expect(everything).toMatchObject([
        { ...page, status: 'firing' },
        { ...page, status: 'resolved' },
      ]);
    });

    it('an exporter that is down sends one page and its end, and nothing for servers or panels', () => {
      const name = 'GameserverExporterDown';
      const after = alerts().filter(({ minute }) => minute > round.exporterStopped);
      expect(after).toMatchObject([
        { receiver: 'page', name, status: 'firing' },
        { receiver: 'page', name, status: 'resolved' },
      ]);
    });

    it('nothing else is sent', () => {
      const known = new Set(['crashes', 'storm', 'outage', 'node', 'down', 'key']);
      const others = alerts().filter(
        ({ panel, subject }) => panel === 'crashes' && !/lobby|modded/.test(subject),
      );
      expect(others).toEqual([]);
      const elsewhere = alerts()
        .filter(({ panel }) => !known.has(panel))
        .map(({ name }) => name);
      expect(new Set(elsewhere)).toEqual(new Set(['GameserverExporterDown']));
    });

    function alerts(): readonly AlertNotice[] {
      return round.notifications.flatMap(read);
    }

    /** The notifications about a server of a panel, in order. */
    function sentAbout(panel: string, server: string): readonly string[] {
      return alerts()
        .filter((alert) => alert.panel === panel && alert.subject === server)
        .map(({ receiver, status, name }) => `${receiver} ${status} ${name}`);
    }

    /** The minute of an alert's first notification. */
    function first(name: string, panel: string): number {
      return alerts().find((alert) => alert.name === name && alert.panel === panel)?.minute ?? Number.NaN;
    }

    function sentWithin(panel: string, minutes: number): readonly Notification[] {
      return round.notifications.filter(
        (sent) =>
          sent.alerts[0]?.labels['panel'] === panel && chain.minuteAt(sent.at) <= round.startedAt + minutes,
      );
    }

    function expectWithin(minutes: number, most: number): void {
      expect(minutes).toBeGreaterThan(0);
      if (PLAN.isTimed) expect(minutes).toBeLessThanOrEqual(most);
    }

    /** Prints the times of all notifications, if the run compares times. */
    function report(number: number): void {
      if (!PLAN.isTimed) return;
      const lines = alerts().map(
        ({ minute, receiver, status, name, panel, subject, atLeast }) =>
          `${(minute - round.startedAt).toFixed(2).padStart(7)} min  ${receiver} ${status} ${name} ${panel} ${subject || atLeast}`,
      );
      const marks = `gave up ${(round.gaveUp - round.startedAt).toFixed(2)}, exporter stopped ${(round.exporterStopped - round.startedAt).toFixed(2)}`;
      process.stderr.write(`\ntime ${number} (x${PLAN.factor}), ${marks}\n${lines.join('\n')}\n`);
    }
  });

  /** Causes all faults, ends them, and restarts the exporter. */
  async function play(): Promise<Round> {
    const from = chain.notifications.length;
    const startedAt = chain.minute;
    strike();
    const gaveUp = await giveUp();
    // On a busy machine, the exporter may notice faults late.
    await untilSent(from, [
      'GameserverCrashed',
      'GameserverAutomaticRestartAborted',
      'GameserverManyCrashed',
      'GameserverManyStopped',
      'GameserverNodeDown',
      'GameserverPanelDown',
      'GameserverPanelKeyRefused',
    ]);
    await chain.pass(Math.max(1, FAULT_MINUTES - (chain.minute - startedAt)));
    await endFaults();
    await everythingIsQuiet();
    const exporterStopped = chain.minute;
    await chain.stopExporter();
    await untilSent(from, ['GameserverExporterDown']);
    await chain.pass(2);
    await chain.startExporter();
    await everythingRuns();
    await everythingIsQuiet();
    return { startedAt, gaveUp, exporterStopped, notifications: chain.notifications.slice(from) };
  }

  /** Waits until the notifications after this one contain alerts with these names. */
  async function untilSent(from: number, names: readonly string[]): Promise<void> {
    await chain.until(DRAIN_MINUTES, () => {
      const sent = chain.notifications.slice(from).flatMap(read);
      expect(sent.map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
    });
  }

  function strike(): void {
    chain.panel('crashes').crash('lobby', { code: 1 });
    const storm = chain.panel('storm').servers;
    for (const [index, { name }] of storm.entries()) {
      chain.later(index / storm.length, () => chain.panel('storm').crash(name, { code: 1 }));
    }
    for (const { name } of chain.panel('outage').servers) chain.panel('outage').crash(name, { code: 1 });
    for (const { name } of onNode()) chain.panel('node').setNodeDown(name, true);
    chain.panel('key').revokeKey(chain.panel('key').apiKey);
    void chain.panel('down').stopListening();
  }

  /** Crashes a server again as soon as its node has restarted it. Returns the time. */
  async function giveUp(): Promise<number> {
    const panel = chain.panel('crashes');
    panel.crash('modded', { code: 1 });
    await chain.until(1, () => expect(panel.server('modded').state).toBe('running'));
    const at = chain.minute;
    panel.crash('modded', { code: 1 });
    return at;
  }

  async function endFaults(): Promise<void> {
    chain.panel('crashes').power('modded', 'start');
    for (const { name } of chain.panel('outage').servers) chain.panel('outage').power(name, 'start');
    for (const { name } of onNode()) chain.panel('node').setNodeDown(name, false);
    chain.panel('key').acceptKey(chain.panel('key').apiKey);
    await chain.panel('down').startListening();
  }

  function onNode() {
    return chain.panel('node').servers.slice(0, NODE_SERVERS);
  }

  async function everythingRuns(): Promise<void> {
    const servers = [...chain.panels.values()].flatMap((panel) => panel.servers);
    await chain.until(DRAIN_MINUTES, async () => {
      const running = await chain.prometheus.query('count(gameserver_state{state="running"} == 1)');
      expect(running[0]?.value).toBe(servers.length);
    });
  }

  /**
   * Waits until the exporter knows the new node of moved servers. Until then, it reports an outage
   * of some of the old node's servers.
   */
  async function everythingHasMoved(): Promise<void> {
    await chain.until(DRAIN_MINUTES, async () => {
      const moved = await chain.prometheus.query('count(gameserver_info{panel="node", node="node-2"})');
      expect(moved[0]?.value).toBe(NODE_SERVERS);
    });
  }

  /** Waits until no alert is active and all of them were notified as resolved. */
  async function everythingIsQuiet(): Promise<void> {
    await chain.until(DRAIN_MINUTES, async () => expect(await chain.prometheus.query('ALERTS')).toEqual([]));
    await chain.pass(1);
  }

  function read({ at, receiver, alerts }: Notification): readonly AlertNotice[] {
    const minute = chain.minuteAt(at);
    return alerts.map(({ status, labels }) => ({
      minute,
      receiver,
      status,
      name: labels['alertname'] ?? '',
      panel: labels['panel'] ?? '',
      subject: labels['server'] ?? labels['node'] ?? '',
      atLeast: labels['at_least'] ?? '',
    }));
  }
});

/** A panel whose budget suffices to connect all servers at once. */
function panelOf(count: number): SimulatorOptions {
  const named = ['lobby', 'modded'];
  return {
    servers: Array.from({ length: count }, (_, index) => ({
      name: named[index] ?? `server-${index}`,
      profile: 'idle' as const,
    })),
    rateLimitPerMinute: 6_000,
    statsIntervalMs: PLAN.factor > 1 ? 5_000 : 1_000,
    startMs: 10_000,
    reviveMs: 1_000,
  };
}

function fail(message: string): never {
  throw new Error(message);
}
