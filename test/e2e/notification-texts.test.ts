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

/** A server name that tries to add its own text to a message. */
const HOSTILE = '<!channel> [free](https://evil.example) *now*';

/** A critical alert, and a warning for the list. */
const PAGE = {
  labels: { alertname: 'GameserverStopped', severity: 'critical', panel: 'main', server: 'lobby' },
  annotations: {
    summary: 'lobby (main) is off',
    description: 'Its disk is full. Set `disk_limit`, or delete files.',
    resolved: 'lobby (main) was off and is running again',
    since: '2026-03-01 18:57:03 UTC',
    unix_time: '1772391423',
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
  annotations: {
    summary: 'The same',
    description: 'Check it.',
    since: '2026-03-01 18:57:03 UTC',
    unix_time: '1772391423',
  },
  startsAt: '2026-03-01T18:00:00Z',
}));
const SAME_TEXT = 'Check it. Since 2026-03-01 18:57:03 UTC.';

const TEXT = 'Its disk is full. Set `disk_limit`, or delete files. Since 2026-03-01 18:57:03 UTC.';
const LINKS = `Panel: ${SERVER}\nStatus: ${STATUS}\nRunbook: ${RUNBOOK}\nDashboard: ${DASHBOARD}`;

/** The end of the address of Alertmanager's form for silences. */
const SILENCE = '/#/silences/new?filter=%7Balertname%3D%22GameserverStopped%22%2Cpanel%3D%22main%22%7D';

/** The secrets in the shipped configurations, which are in temporary files. */
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
    expect(page?.title).toBe('🔴 Critical: lobby (main) is off');
    // Times are in the reader's time zone, and code is formatted as code.
    const text = 'Its disk is full. Set `disk_limit`, or delete files.\n<t:1772391423:R> (<t:1772391423:t>).';
    const links = `[Panel](${SERVER}) [Status](${STATUS}) [Runbook](${RUNBOOK}) [Dashboard](${DASHBOARD})`;
    expect(page?.description).toContain(`${text} ${links} [Silence](http`);
    expect(page?.description.endsWith(`${SILENCE})`)).toBe(true);
    const [same] = embedsIn(await message(inbox, 'The same'));
    expect(same?.title).toBe('🟠 Warning: The same');
    expect(same?.description).toMatch(/^Check it\.\n<t:1772391423:R> \(<t:1772391423:t>\)\. \[Silence\]/);
    const [list] = embedsIn(await message(inbox, '12 firing'));
    expect(list?.title).toBe('🟠 Warning: GameserverDiskFilling on main: 12 firing');
    expect(list?.description).toContain(
      '**\\<!channel\\> \\[free\\](https://evil.example) \\*now\\* is full**',
    );
    expect(list?.description).toContain('disk_limit.\nSent <t:1772388000:R>.\n');
    expect(list?.description.match(/is full/g)).toHaveLength(10);
    expect(list?.description).toMatch(/\nand more: http:\S+ \[Silence\]\(http\S+\)$/);
    // Only addresses become links.
    expect(list?.description).not.toMatch(/Dashboard|Runbook/);
  });

  it('about an end says what is well again, in Discord and in a mail', async () => {
    const ended = [{ ...PAGE, endsAt: new Date().toISOString() }];
    const inbox = await open(httpInbox());
    const send = await notify('discord', (config) => withDiscordAddress(config, urlOf(inbox)));
    await message(inbox, 'is off');
    await send(ended);
    const [embed] = embedsIn(await message(inbox, 'running again'));
    expect(embed?.title).toBe('🟢 Resolved: lobby (main) was off and is running again');
    expect(embed?.description).toMatch(/^From <t:1772391423:t> to <t:\d+:t>\. \[Dashboard\]\(\S+\)$/);
    const mails = await open(mailInbox());
    const mail = await notify('email', (config) =>
      config.replace('smtp.example.com:587', `127.0.0.1:${mails.port}\n  smtp_require_tls: false`),
    );
    await message(mails, 'is off');
    await mail(ended);
    expect(await message(mails, 'running again')).toContain(
      'Subject: Resolved: lobby (main) was off and is running again',
    );
  });

  it("in Slack has the same, and a name can't mention anybody", async () => {
    const inbox = await open(httpInbox());
    await notify('slack', (config) => config, urlOf(inbox));
    const [page] = attachmentsIn(await message(inbox, 'is off'));
    expect(page?.title).toBe('Critical: lobby (main) is off');
    expect(page?.text).toContain(`${TEXT}\n${LINKS}\nSilence: http`);
    expect(page?.fallback).toBe(page?.title);
    const [same] = attachmentsIn(await message(inbox, 'The same'));
    expect(same?.title).toBe('Warning: The same');
    expect(same?.text.split(SAME_TEXT)).toHaveLength(2);
    const [list] = attachmentsIn(await message(inbox, '12 firing'));
    expect(list?.text).toContain('*&lt;!channel&gt; [free](https://evil.example) *now* is full*');
  });

  it('in an e-mail has the title as its subject, and plain text', async () => {
    const inbox = await open(mailInbox());
    await notify('email', (config) =>
      config.replace('smtp.example.com:587', `127.0.0.1:${inbox.port}\n  smtp_require_tls: false`),
    );
    const page = await message(inbox, 'is off');
    expect(page).toContain('Subject: Critical: lobby (main) is off\r\n');
    expect(unquoted(page)).toContain(`${TEXT}\n${LINKS}`);
    expect(page).not.toContain('text/html');
    expect(unquoted(await message(inbox, 'Subject: Warning: The same')).split(SAME_TEXT)).toHaveLength(2);
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
   * Makes an Alertmanager with a shipped configuration, but with the test's addresses, send these
   * alerts. It may first send a part of a group, before it has stored all of it, and then send the
   * group again.
   */
  async function notify(
    name: string,
    change: (config: string) => string,
    secret = 'the-secret',
  ): Promise<(alerts: readonly object[]) => Promise<void>> {
    for (const file of SECRETS) await writeFile(join(folder, file), secret);
    const shipped = await readFile(repositoryPath(`deploy/alertmanager/${name}.yml`), 'utf8');
    const file = join(folder, `${name}.yml`);
    const hasty = shipped
      .replaceAll('/etc/alertmanager', folder)
      .replaceAll(/group_(wait|interval): \S+/g, 'group_$1: 1s');
    await writeFile(file, change(hasty));
    const alertmanager = launch('prometheus-alertmanager', [
      `--config.file=${file}`,
      `--storage.path=${await mkdtemp(join(folder, 'data-'))}`,
      '--web.listen-address=127.0.0.1:0',
      '--cluster.listen-address=',
    ]);
    stops.push(async () => {
      alertmanager.kill('SIGTERM');
      await alertmanager.ended;
    });
    const [, authority = ''] = await alertmanager.printed(/msg="Listening on" address=(127\.0\.0\.1:\d+)/);
    const send = async (alerts: readonly object[]) => {
      const response = await fetch(`http://${authority}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(alerts),
      });
      expect(response.status).toBe(200);
    };
    await send([PAGE, ...SAME, ...LIST]);
    return send;
  }
});

function urlOf(inbox: Inbox): string {
  return `http://127.0.0.1:${inbox.port}/`;
}

/** Waits for the first message with this text. */
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

/** The text of a mail in the encoding quoted-printable (RFC 2045). */
function unquoted(mail: string): string {
  return mail
    .replaceAll('=\r\n', '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
