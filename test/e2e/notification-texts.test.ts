import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDiscordAddress } from '../support/alertmanager.ts';
import { repositoryPath } from '../support/deploy-files.ts';
import { eventually } from '../support/eventually.ts';
import { hasProgram } from '../support/has-program.ts';
import { httpInbox, type Inbox, mailInbox } from '../support/inbox.ts';
import { launch } from '../support/process.ts';

const hasAlertmanager = hasProgram('prometheus-alertmanager');

const RUNBOOK = 'https://git.example.com/exporter/blob/main/docs/runbooks/gameserver-stopped.md';
const SERVER = 'https://panel.example.com/server/1a7ce997';
const STATUS = 'https://games.example.com/?open=main%2F1a7ce997';
const DASHBOARD = 'https://grafana.example.com/d/gameserver-server?var-panel=main&var-server=lobby';

/** A server name that tries to add text of its own. */
const HOSTILE = '<!channel> [free](https://evil.example) *now*';

/** An alert that pages, and one of a list. */
const PAGE = {
  labels: { alertname: 'GameserverStopped', severity: 'critical', panel: 'main', server: 'lobby' },
  annotations: {
    summary: 'lobby (main) is off',
    description: 'Its disk is full. Delete files or raise its disk limit, then start it.',
    since: '2026-03-01 18:57:03 UTC',
    server_url: SERVER,
    status_url: STATUS,
    runbook_url: RUNBOOK,
    dashboard_url: DASHBOARD,
  },
  startsAt: '2026-03-01T19:00:07Z',
};
const LIST = Array.from({ length: 12 }, (_, index) => ({
  labels: { alertname: 'GameserverDiskFilling', severity: 'warning', panel: 'main', server: `s${index}` },
  annotations: {
    summary: `${index === 0 ? HOSTILE : `s${index}`} is full`,
    description: 'It uses 99% of its disk_limit.',
    runbook_url: 'docs/runbooks/gameserver-disk-filling.md',
    dashboard_url: 'd/gameserver-server?var-server=s',
  },
  startsAt: '2026-03-01T18:00:00Z',
}));

/** Two alerts with the same text. */
const SAME = ['5', '20'].map((id) => ({
  labels: { alertname: 'GameserverBackupFailed', severity: 'warning', panel: 'main', server_id: id },
  annotations: { summary: 'The same', description: 'Check it.', since: '2026-03-01 18:57:03 UTC' },
  startsAt: '2026-03-01T18:00:00Z',
}));
const SAME_TEXT = 'Check it. Since 2026-03-01 18:57:03 UTC.';

const TEXT =
  'Its disk is full. Delete files or raise its disk limit, then start it. Since 2026-03-01 18:57:03 UTC.';
const LINKS = `Panel: ${SERVER}\nStatus: ${STATUS}\nRunbook: ${RUNBOOK}\nDashboard: ${DASHBOARD}`;

/** The secrets of the shipped configurations, in temporary files. */
const SECRETS = ['slack-url', 'smtp-password', 'webhook-token'];

describe.skipIf(!hasAlertmanager)('a notification', () => {
  const stops: (() => Promise<unknown> | void)[] = [];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'notifications-'));
    stops.push(() => rm(folder, { recursive: true }));
    await cp(repositoryPath('deploy/alertmanager/templates'), join(folder, 'templates'), { recursive: true });
  });

  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });

  it('in Discord has title, problem, time and action; a list is truncated, texts are shown once, and names are no Markdown', async () => {
    const inbox = await open(httpInbox());
    await notify('discord', (config) => withDiscordAddress(config, urlOf(inbox)));
    const [page] = embedsIn(await message(inbox, 'is off'));
    expect(page).toMatchObject({ title: PAGE.annotations.summary, description: `${TEXT}\n${LINKS}` });
    const [same] = embedsIn(await message(inbox, 'The same'));
    expect(same).toMatchObject({ title: 'The same', description: SAME_TEXT });
    const [list] = embedsIn(await message(inbox, '12 firing'));
    expect(list?.title).toBe('GameserverDiskFilling on main: 12 firing');
    expect(list?.description).toContain(
      '**\\<!channel\\> \\[free\\](https://evil.example) \\*now\\* is full**',
    );
    expect(list?.description).toContain('disk\\_limit. Sent 2026-03-01 18:00:00 UTC.\n');
    expect(list?.description.match(/is full/g)).toHaveLength(10);
    expect(list?.description).toMatch(/\nand more: http:\S+$/);
    // They aren't addresses.
    expect(list?.description).not.toMatch(/Dashboard|Runbook/);
  });

  it("in Slack has the same, and a name can't mention anybody", async () => {
    const inbox = await open(httpInbox());
    await notify('slack', (config) => config, urlOf(inbox));
    const [page] = attachmentsIn(await message(inbox, 'is off'));
    expect(page).toMatchObject({ title: PAGE.annotations.summary, text: `${TEXT}\n${LINKS}` });
    expect(page?.fallback).toBe(PAGE.annotations.summary);
    const [same] = attachmentsIn(await message(inbox, 'The same'));
    expect(same).toMatchObject({ title: 'The same', text: SAME_TEXT });
    const [list] = attachmentsIn(await message(inbox, '12 firing'));
    expect(list?.text).toContain('*&lt;!channel&gt; [free](https://evil.example) *now* is full*');
  });

  it('in an e-mail has the title as its subject, and plain text', async () => {
    const inbox = await open(mailInbox());
    await notify('email', (config) =>
      config.replace('smtp.example.com:587', `127.0.0.1:${inbox.port}\n  smtp_require_tls: false`),
    );
    const page = await message(inbox, 'is off');
    expect(page).toContain(`Subject: ${PAGE.annotations.summary}\r\n`);
    expect(unquoted(page)).toContain(`${TEXT}\n${LINKS}`);
    expect(page).not.toContain('text/html');
    expect(unquoted(await message(inbox, 'Subject: The same')).split(SAME_TEXT)).toHaveLength(2);
  });

  it('at a webhook has the token of the file, and the links', async () => {
    const inbox = await open(httpInbox());
    await notify('webhook', (config) => config.replaceAll('http://localhost:8080/alerts', urlOf(inbox)));
    const page = await message(inbox, 'is off');
    expect(page).toMatch(/^Bearer the-secret\n/);
    expect(bodyOf(page)).toMatchObject({ receiver: 'page', alerts: [{ annotations: PAGE.annotations }] });
  });

  async function open(opening: Promise<Inbox>): Promise<Inbox> {
    const inbox = await opening;
    stops.push(() => inbox.close());
    return inbox;
  }

  /**
   * Makes an Alertmanager send the alerts, with a shipped configuration whose addresses are the test's. It may send a part of a group
   * before it has stored all of it, and then sends the group again.
   */
  async function notify(
    name: string,
    change: (config: string) => string,
    secret = 'the-secret',
  ): Promise<void> {
    for (const file of SECRETS) await writeFile(join(folder, file), secret);
    const shipped = await readFile(repositoryPath(`deploy/alertmanager/${name}.yml`), 'utf8');
    const file = join(folder, `${name}.yml`);
    const hasty = shipped
      .replaceAll('/etc/alertmanager', folder)
      .replaceAll(/group_(wait|interval): \S+/g, 'group_$1: 1s');
    await writeFile(file, change(hasty));
    const alertmanager = launch('prometheus-alertmanager', [
      `--config.file=${file}`,
      `--storage.path=${join(folder, `data-${name}`)}`,
      '--web.listen-address=127.0.0.1:0',
      '--cluster.listen-address=',
    ]);
    stops.push(async () => {
      alertmanager.kill('SIGTERM');
      await alertmanager.ended;
    });
    const [, authority = ''] = await alertmanager.printed(/msg="Listening on" address=(127\.0\.0\.1:\d+)/);
    const response = await fetch(`http://${authority}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([PAGE, ...SAME, ...LIST]),
    });
    expect(response.status).toBe(200);
  }
});

function urlOf(inbox: Inbox): string {
  return `http://127.0.0.1:${inbox.port}/`;
}

/** Waits for the first message that contains this text. */
function message({ messages }: Inbox, words: string): Promise<string> {
  return eventually(
    () =>
      messages.find((one) => one.includes(words)) ??
      Promise.reject(new Error(`no message contains "${words}"`)),
  );
}

interface Embed {
  readonly title: string;
  readonly description: string;
}

function embedsIn(request: string): readonly Embed[] {
  return (bodyOf(request) as { embeds: readonly Embed[] }).embeds;
}

interface Attachment {
  readonly title: string;
  readonly fallback: string;
  readonly text: string;
}

function attachmentsIn(request: string): readonly Attachment[] {
  return (bodyOf(request) as { attachments: readonly Attachment[] }).attachments;
}

function bodyOf(request: string): unknown {
  return JSON.parse(request.slice(request.indexOf('\n') + 1));
}

/** The text of a mail in quoted-printable (RFC 2045). */
function unquoted(mail: string): string {
  return mail
    .replaceAll('=\r\n', '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
