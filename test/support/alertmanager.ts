// A real Alertmanager for tests, with a webhook that records its notifications.
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SystemClock } from '../../src/domain/clock.ts';
import { type Acceleration, acceleratedRouting } from './accelerated-alerting.ts';
import { launch } from './process.ts';

const SHIPPED = new URL('../../deploy/alertmanager/webhook.yml', import.meta.url);

/**
 * The configuration for Discord in a form that Debian's Alertmanager 0.25 accepts: it can't read
 * the address from a file.
 */
export function withDiscordAddress(
  shipped: string,
  address = 'https://discord.com/api/webhooks/1/a',
): string {
  return shipped.replaceAll(/webhook_url_file: \S+/g, `webhook_url: ${address}`);
}

type Labels = Readonly<Record<string, string>>;

/** An alert in a notification. */
export interface NotifiedAlert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** The content of one webhook request. */
export interface Notification {
  /** The arrival time on the machine's monotonic clock. */
  readonly at: number;
  readonly receiver: string;
  readonly groupLabels: Labels;
  readonly alerts: readonly NotifiedAlert[];
}

/** An alert that Alertmanager knows, whether it has sent a notification or not. */
export interface KnownAlert {
  readonly labels: Labels;
  readonly status: { readonly inhibitedBy: readonly string[] };
}

/** An alert as Prometheus sends it. It fires until `endsAt`. */
export interface SentAlert {
  readonly labels: Labels;
  readonly endsAt?: string;
}

/** A running Alertmanager, and the webhook that it notifies. */
export interface AlertmanagerUnderTest {
  /** The address as `host:port`. */
  readonly authority: string;
  /** All notifications so far, in the order of their arrival. */
  readonly notifications: readonly Notification[];
  /** All firing alerts. */
  alerts(): Promise<readonly KnownAlert[]>;
  send(alerts: readonly SentAlert[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts an Alertmanager with the shipped configuration, but with shorter waits and a single
 * webhook.
 */
export async function startAlertmanager(acceleration: Acceleration): Promise<AlertmanagerUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'alertmanager-'));
  const webhook = await listen();
  const file = join(folder, 'alertmanager.yml');
  await writeFile(file, acceleratedRouting(await readFile(SHIPPED, 'utf8'), webhook.url, acceleration));
  const process = launch('prometheus-alertmanager', [
    `--config.file=${file}`,
    `--storage.path=${join(folder, 'data')}`,
    '--web.listen-address=127.0.0.1:0',
    '--cluster.listen-address=',
  ]);
  const [, authority = ''] = await process.printed(/msg="Listening on" address=(127\.0\.0\.1:\d+)/);
  const api = `http://${authority}/api/v2/alerts`;
  return {
    authority,
    notifications: webhook.notifications,
    alerts: async () => (await (await fetch(api)).json()) as readonly KnownAlert[],
    send: async (alerts) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(api, { method: 'POST', headers, body: JSON.stringify(alerts) });
      if (!response.ok)
        throw new Error(`Alertmanager responded with ${response.status}: ${await response.text()}`);
    },
    stop: async () => {
      process.kill('SIGTERM');
      await process.ended;
      await webhook.close();
      await rm(folder, { recursive: true });
    },
  };
}

interface Webhook {
  readonly url: string;
  readonly notifications: readonly Notification[];
  close(): Promise<void>;
}

async function listen(): Promise<Webhook> {
  const clock = new SystemClock();
  const notifications: Notification[] = [];
  const server = createServer((request, response) => {
    const receive = async () => {
      const sent = JSON.parse(await text(request)) as Omit<Notification, 'at'>;
      notifications.push({ ...sent, at: clock.now() });
      response.end();
    };
    void receive();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    notifications,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
