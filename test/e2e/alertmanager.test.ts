import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlertmanagerUnderTest, type SentAlert, startAlertmanager } from '../support/alertmanager.ts';
import { eventually } from '../support/eventually.ts';
import { hasProgram } from '../support/has-program.ts';

const hasAlertmanager = hasProgram('prometheus-alertmanager');

/** Sixty times the normal speed, but no wait is shorter than a second. */
const ACCELERATION = { factor: 60, leastMs: 1_000 };

const JOB = { job: 'gameserver' };
const MAIN = { ...JOB, panel: 'main' };
const PANEL_DOWN = { alertname: 'GameserverPanelDown', severity: 'critical', ...MAIN };
const NODE_DOWN = { alertname: 'GameserverNodeDown', severity: 'critical', ...MAIN, node: 'fra-1' };
const KEY_REFUSED = { alertname: 'GameserverPanelKeyRefused', severity: 'critical', ...MAIN };
const EXPORTER_DOWN = { alertname: 'GameserverExporterDown', severity: 'critical', ...JOB };

/** 500 alerts, one for each server of a panel. */
function servers(
  panel: string,
  alertname = 'GameserverStopped',
  severity = 'critical',
): readonly SentAlert[] {
  return Array.from({ length: 500 }, (_, index) => ({
    labels: { alertname, severity, ...JOB, panel, server: `server-${index}`, server_id: `id-${index}` },
  }));
}

/** An alert about a server. A crash has a reason. */
function of(server: string, alertname: string, isWarning = false): SentAlert {
  const reason: Record<string, string> = alertname === 'GameserverCrashed' ? { reason: 'crashed' } : {};
  const severity = isWarning ? 'warning' : 'critical';
  return { labels: { alertname, severity, ...MAIN, server, server_id: `id-${server}`, ...reason } };
}

/** An alert that the lobby's other alert inhibits. */
const NEVER_SENT = of('lobby', 'GameserverCrashed', true);

describe.skipIf(!hasAlertmanager)('a real Alertmanager with the shipped configuration', () => {
  let alertmanager: AlertmanagerUnderTest;

  beforeEach(async () => {
    alertmanager = await startAlertmanager(ACCELERATION);
  });
  afterEach(() => alertmanager.stop());

  it('sends one page for a part of a node, and none for it while the whole node is down', async () => {
    const partly = { ...NODE_DOWN, alertname: 'GameserverNodePartlyDown' };
    await alertmanager.send([
      { labels: partly },
      { labels: { ...partly, node: 'fra-2' } },
      { labels: NODE_DOWN },
    ]);
    await eventually(async () => expect(await inhibited()).toBe(1));
    await eventually(() =>
      expect(new Set(pages().flatMap(({ alerts }) => alerts))).toEqual(
        new Set(['GameserverNodeDown', 'GameserverNodePartlyDown']),
      ),
    );
  });

  it("sends one page for a panel that is down with 500 servers, and its servers' alerts once it is back", async () => {
    await alertmanager.send([...servers('main'), { labels: PANEL_DOWN }]);
    await eventually(async () => expect(await inhibited()).toBe(500));
    await eventually(() => expect(pages()).toEqual([{ panel: 'main', alerts: ['GameserverPanelDown'] }]));
    await alertmanager.send([{ labels: PANEL_DOWN, endsAt: new Date().toISOString() }]);
    await eventually(() => expect(firing('GameserverStopped')).toBe(500));
  });

  it('sends each page as a separate notification once, and its end once, whatever else fires', async () => {
    const lobby = of('lobby', 'GameserverStopped');
    const modded = of('modded', 'GameserverStopped');
    await alertmanager.send([lobby, NEVER_SENT]);
    await eventually(() => expect(sent()).toEqual(['page firing lobby']));
    await alertmanager.send([lobby, modded]);
    await eventually(() => expect(sent()).toEqual(['page firing lobby', 'page firing modded']));
    await alertmanager.send([ended(lobby), ended(NEVER_SENT), modded]);
    const all = ['page firing lobby', 'page firing modded', 'page resolved lobby'];
    await eventually(() => expect(sent()).toEqual(all));
    await alertmanager.send([lobby, modded]);
    await eventually(() => expect(sent()).toEqual([...all, 'page firing lobby']));
  });

  it('sends a crash once, without its end; the same one later is sent again', async () => {
    const crash = of('lobby', 'GameserverCrashed', true);
    const page = of('modded', 'GameserverStopped');
    await alertmanager.send([crash]);
    await eventually(() => expect(sent()).toEqual(['crash firing lobby']));
    await alertmanager.send([ended(crash)]);
    // Later notifications show that none was sent at the end of the crash.
    await alertmanager.send([page]);
    await eventually(() => expect(sent()).toEqual(['crash firing lobby', 'page firing modded']));
    await alertmanager.send([ended(page)]);
    await eventually(() => expect(sent().at(-1)).toBe('page resolved modded'));
    await alertmanager.send([crash]);
    await eventually(() => expect(sent().slice(2)).toEqual(['page resolved modded', 'crash firing lobby']));
  });

  it.each([
    ['GameserverManyStopped', 'page', 'critical', ['resolved 20, resolved 5']],
    ['GameserverManyCrashed', 'page', 'critical', ['resolved 20, resolved 5']],
  ])(
    'sends %s again when there are 20 servers, and its end at most once, however often Prometheus sends that',
    async (alertname, receiver, severity, ends) => {
      const many = (panel: string, atLeast: string): SentAlert => ({
        labels: { alertname, severity, ...JOB, panel, failure: 'down', since: '600', at_least: atLeast },
      });
      const [few, all] = [many('main', '5'), many('main', '20')];
      await alertmanager.send([few]);
      await eventually(() => expect(levels('main')).toEqual(['firing 5']));
      await alertmanager.send([few, all]);
      await eventually(() => expect(levels('main')).toEqual(['firing 5', 'firing 20']));
      await alertmanager.send([ended(few), ended(all)]);
      const everything = ['firing 5', 'firing 20', ...ends];
      await eventually(() => expect(levels('main')).toEqual(everything));
      await alertmanager.send([ended(few), many('other', '5'), many('other', '20')]);
      await eventually(() => expect(levels('other')).toEqual(['firing 20']));
      expect(levels('main')).toEqual(everything);
      expect(new Set(alertmanager.notifications.map((sent) => sent.receiver))).toEqual(new Set([receiver]));
    },
  );

  it('groups less urgent and unknown alerts by their name and panel', async () => {
    const lists = ['GameserverDiskFilling', 'GameserverOfTomorrow'].flatMap((name) =>
      servers('main', name, 'warning'),
    );
    await alertmanager.send([...lists, ...servers('main', 'GameserverPageOfTomorrow')]);
    await eventually(() => {
      const all = alertmanager.notifications.map(
        ({ receiver, groupLabels, alerts }) => `${receiver} ${groupLabels['alertname']} ${alerts.length}`,
      );
      expect(all.toSorted()).toEqual([
        'notify GameserverDiskFilling 500',
        'notify GameserverOfTomorrow 500',
        'page GameserverPageOfTomorrow 500',
      ]);
    });
  });

  it('sends one page for a node that is down, which inhibits only the alerts of its own servers', async () => {
    const [stopped] = servers('main');
    const one = (node?: string, changes = {}): SentAlert => ({
      labels: {
        ...stopped?.labels,
        ...(node !== undefined && { node }),
        server_id: `on-${node}`,
        ...changes,
      },
    });
    const away = servers('main').map(({ labels }) => ({ labels: { ...labels, node: 'fra-1' } }));
    const others = [one('fra-2'), one(), one('fra-1', { panel: 'other' }), one('fra-1', { job: 'staging' })];
    await alertmanager.send([...away, ...others, { labels: NODE_DOWN }]);
    await eventually(async () => expect(await inhibited()).toBe(500));
    await eventually(() => expect(firing('GameserverStopped')).toBe(others.length));
    await eventually(() => expect(firing('GameserverNodeDown')).toBe(1));
  });

  it('inhibits the alerts of a node whose panel is down, and of its servers', async () => {
    const away = servers('main').map(({ labels }) => ({ labels: { ...labels, node: 'fra-1' } }));
    await alertmanager.send([...away, { labels: NODE_DOWN }, { labels: PANEL_DOWN }]);
    await eventually(async () => expect(await inhibited()).toBe(501));
    await eventually(() => expect(pages()).toEqual([{ panel: 'main', alerts: ['GameserverPanelDown'] }]));
  });

  it('inhibits nothing because of a node alert without a node name, which servers may lack too', async () => {
    const { node: _, ...unnamed } = NODE_DOWN;
    await alertmanager.send([{ labels: unnamed }, ...servers('main')]);
    await eventually(() => expect(firing('GameserverStopped')).toBe(500));
    expect(await inhibited()).toBe(0);
  });

  it('sends only the rejected key, which inhibits the alerts of the panel and its servers', async () => {
    await alertmanager.send([...servers('main'), { labels: PANEL_DOWN }, { labels: KEY_REFUSED }]);
    await eventually(async () => expect(await inhibited()).toBe(501));
    await eventually(() =>
      expect(pages()).toEqual([{ panel: 'main', alerts: ['GameserverPanelKeyRefused'] }]),
    );
  });

  it('sends one page for an exporter that is down, whatever it monitors', async () => {
    const shards = { alertname: 'GameserverShardMissing', severity: 'critical', ...JOB };
    const instance = { ...EXPORTER_DOWN, severity: 'warning', instance: 'a' };
    const others = [PANEL_DOWN, shards, instance].map((labels) => ({ labels }));
    await alertmanager.send([...servers('main'), ...servers('other'), ...others, { labels: EXPORTER_DOWN }]);
    await eventually(async () => expect(await inhibited()).toBe(1_003));
    await eventually(() => expect(pages()).toEqual([{ panel: '', alerts: ['GameserverExporterDown'] }]));
  });

  it('inhibits nothing of another panel or another job', async () => {
    const elsewhere = { ...MAIN, job: 'staging', alertname: 'GameserverStopped', severity: 'critical' };
    await alertmanager.send([{ labels: PANEL_DOWN }, ...servers('other'), { labels: elsewhere }]);
    await eventually(() => expect(firing('GameserverStopped')).toBe(501));
    expect(await inhibited()).toBe(0);
    await eventually(() =>
      expect(new Set(pages().map(({ panel }) => panel))).toEqual(new Set(['main', 'other'])),
    );
  });

  it.each([
    ['GameserverAutomaticRestartAborted', ['Crashed', 'StopsRepeatedly', 'Stopped']],
    ['GameserverStopped', ['Crashed']],
  ])('sends one page for a crash that ends in %s, and no page for its CPU', async (page, others) => {
    const crashes = others.map((name) => of('lobby', `Gameserver${name}`, name === 'Crashed'));
    const elsewhere = of('modded', 'GameserverCrashed', true);
    const cpu = of('lobby', 'GameserverCpuSaturated', true);
    await alertmanager.send([...crashes, elsewhere, cpu, of('lobby', page)]);
    await eventually(() => {
      const sentAlerts = alertmanager.notifications.flatMap(({ receiver, alerts }) =>
        alerts.map(({ labels }) => `${receiver}: ${labels['alertname']} ${labels['server']}`),
      );
      expect(sentAlerts.toSorted()).toEqual([
        'crash: GameserverCrashed modded',
        'notify: GameserverCpuSaturated lobby',
        `page: ${page} lobby`,
      ]);
    });
    expect(await inhibited()).toBe(others.length);
  });

  it.each([
    ['notify', {}],
    ['page', { importance: 'high', severity: 'critical' }],
  ])(
    'sends a crash loop to %s instead of its crashes, for a server with the labels %o',
    async (receiver, own) => {
      const loop = { ...of('lobby', 'GameserverStopsRepeatedly', true).labels, ...own };
      await alertmanager.send([of('lobby', 'GameserverCrashed', true), { labels: loop }]);
      await eventually(() =>
        expect(
          alertmanager.notifications.map(({ receiver: by, alerts }) => [
            by,
            alerts.map(({ labels }) => labels['alertname']),
          ]),
        ).toEqual([[receiver, ['GameserverStopsRepeatedly']]]),
      );
      expect(await inhibited()).toBe(1);
    },
  );

  /** The number of firing alerts that others inhibit. */
  async function inhibited(): Promise<number> {
    return (await alertmanager.alerts()).filter(({ status }) => status.inhibitedBy.length > 0).length;
  }

  /** Notifications about one server each, with its name. */
  function sent(): readonly string[] {
    return alertmanager.notifications.map(({ receiver, alerts }) => {
      const servers = alerts.map(({ status, labels }) => `${status} ${labels['server']}`);
      return `${receiver} ${servers.join(', ')}`;
    });
  }

  /** Notifications about a panel, with the minimum number of servers in each alert. */
  function levels(panel: string): readonly string[] {
    return alertmanager.notifications
      .filter(({ groupLabels }) => groupLabels['panel'] === panel)
      .map(({ alerts }) =>
        alerts
          .map(({ status, labels }) => `${status} ${labels['at_least']}`)
          .toSorted()
          .join(', '),
      );
  }

  function pages() {
    return alertmanager.notifications.map(({ groupLabels, alerts }) => ({
      panel: groupLabels['panel'] ?? '',
      alerts: alerts.map(({ labels }) => labels['alertname']),
    }));
  }

  /** How often an alert with this name was sent as firing. */
  function firing(name: string): number {
    const sentAlerts = alertmanager.notifications.flatMap(({ alerts }) => alerts);
    const own = sentAlerts.filter(
      ({ status, labels }) => status === 'firing' && labels['alertname'] === name,
    );
    return new Set(own.map(({ labels }) => `${labels['job']}/${labels['panel']}/${labels['server_id']}`))
      .size;
  }
});

/** The same alert after its end. */
function ended({ labels }: SentAlert): SentAlert {
  return { labels, endsAt: new Date().toISOString() };
}
