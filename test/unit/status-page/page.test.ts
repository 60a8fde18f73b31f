import { expect, test } from 'vitest';
import { renderPage } from '../../../src/status-page/page.tsx';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  fleetReading,
  largeFleet,
  panelReading,
  serverReading,
  staleReading,
  streamingReading,
} from '../../support/readings.ts';

const page = async (fleet: Parameters<typeof renderPage>[0]) =>
  String(await renderPage(fleet, '1.2.3', new ManualClock()));

test('the page shows name, version, links and each server', async () => {
  const text = await page(
    fleetReading([
      streamingReading({ target: { name: 'survival' }, sample_age_seconds: 2 }),
      serverReading({
        target: { name: 'creative' },
        condition: 'blocked',
        blocked: 'suspended',
        problem: { cause: 'suspended', detail: "suspended according to the panel's server list" },
      }),
    ]),
  );
  expect(text).toMatch(/^<!doctype html>\n<html lang="en" data-version="1.2.3">/);
  expect(text).toContain('<h1>gameserver-exporter <span class="sub">1.2.3</span></h1>');
  expect(text).toContain('2 servers: 1 running, 1 no data');
  expect(text).toContain(
    '<tr><td>survival</td><td>running</td><td>streaming</td><td>2 s ago</td><td></td></tr>',
  );
  expect(text).toContain(
    '<tr><td>creative</td><td>no data</td><td>blocked: suspended</td><td>–</td><td>suspended according to the panel&#39;s server list. Unsuspend the server in the panel',
  );
});

test('the page begins with the servers that have problems, the most urgent first, even if the table is truncated', async () => {
  const servers = [
    ...largeFleet(298).servers(),
    streamingReading({ target: { name: 'off' }, state: 'offline' }),
    streamingReading({ target: { name: 'crashed' }, state: 'offline', off_reason: 'out_of_memory' }),
  ];
  expect(await page(fleetReading(servers))).toContain(
    '<h2>2 problems</h2><ul><li>crashed: crashed. Check its console for the cause. Start it if its node doesn&#39;t.</li>' +
      '<li>off: off, but expected to run. The exporter did not see it stop. Start it, or set expect: any if it is allowed to be off.</li></ul>',
  );
});

test('the page counts a single problem in the singular', async () => {
  const text = await page(fleetReading([streamingReading({ state: 'offline' })]));
  expect(text).toContain('<h2>1 problem</h2>');
});

test('every link is relative, so that the page works behind a proxy with a path', async () => {
  const text = await page(fleetReading([streamingReading()]));
  const addresses = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address);
  expect(addresses).toEqual([
    'assets/icon.svg',
    'assets/uplot.css',
    'assets/page.css',
    'assets/page.js',
    'metrics',
    'api/v1/servers',
    '-/healthy',
    '-/ready',
  ]);
});

test('stale data has no state', async () => {
  const text = await page(fleetReading([staleReading()]));
  expect(text).toContain('<td>no data</td><td>streaming</td><td>100 s ago</td>');
});

test('the page shows the problems of a panel and its nodes that are down', async () => {
  const text = await page(
    fleetReading(
      [],
      [
        panelReading({ name: 'well', nodes: [{ name: 'fra-1', up: true }] }),
        panelReading({
          name: 'main',
          up: false,
          problems: [
            { cause: 'key_address', detail: 'This IP address (203.0.113.7) does not have permission' },
          ],
          nodes: [
            { name: 'fra-2', up: false, problem: { cause: 'node_tls_expired', detail: 'CERT_HAS_EXPIRED' } },
            { name: 'fra-3', up: true },
          ],
        }),
      ],
    ),
  );
  expect(text).toContain(
    '<p class="title">Panel main is down: API key not allowed from this address</p><p>Create a key that allows the address in the panel&#39;s message',
  );
  expect(text).toContain('<p class="sub">This IP address (203.0.113.7) does not have permission</p>');
  expect(text).toContain(
    '<p class="title">Node fra-2 (main) is down: certificate expired</p><p>Renew the node&#39;s certificate',
  );
  expect(text).not.toMatch(/well|fra-1|fra-3/);
});

test('external text is escaped', async () => {
  const hostile = '<script>alert("x")</script>&\'';
  const text = await page(
    fleetReading([
      serverReading({
        target: { panel: hostile, name: hostile },
        condition: 'failing',
        problem: { cause: 'node_error', detail: hostile },
      }),
    ]),
  );
  expect(text).not.toContain('<script>');
  // The name in the list of problems, and the name and the problem in the table.
  expect(text.split('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;')).toHaveLength(4);
});

test('a large fleet is truncated', async () => {
  const text = await page(largeFleet(1_234));
  expect(text.split('<tr><td>')).toHaveLength(201);
  expect(text).toContain('<p>and 1034 more, see the metrics</p>');
});
