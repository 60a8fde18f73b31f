import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { FleetReading, ServerReading } from '../domain/reading.ts';

/** Servers that the page shows; more would make a page that nobody reads and that takes long to build. */
const MAX_ROWS = 200;

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem}table{border-collapse:collapse}' +
  'th,td{text-align:left;padding:.2rem .8rem .2rem 0}';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** The page's Content-Security-Policy: nothing but its own style. */
export const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  styleSrc: [`'sha256-${STYLE_HASH}'`],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/** The start page: links, and the servers in a plain table, as of the monotonic instant `now`. */
export function renderPage(fleet: FleetReading, version: string, now: number) {
  const servers = fleet.servers();
  const hidden = servers.length - MAX_ROWS;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>gameserver-exporter</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<h1>gameserver-exporter ${version}</h1>
<p><a href="/metrics">metrics</a> · <a href="/-/healthy">healthy</a> · <a href="/-/ready">ready</a></p>
<table>
<thead><tr><th>panel<th>server<th>state<th>condition<th>last sample<th>last trouble</tr></thead>
<tbody>${servers.slice(0, MAX_ROWS).map((server) => row(server, now))}</tbody>
</table>
${hidden > 0 ? html`<p>and ${hidden} more: see the metrics</p>` : ''}
</body>
</html>
`;
}

function row(server: ServerReading, now: number) {
  const { target, status, sampledAt } = server;
  const state = server.isFresh(now) ? server.state : 'unknown';
  const condition =
    status.blocked === undefined ? status.condition : `${status.condition}: ${status.blocked}`;
  const age =
    sampledAt === undefined ? 'never' : `${Math.max(0, (now - sampledAt) / 1_000).toFixed(0)} s ago`;
  return html`
<tr><td>${target.panel}<td>${target.name}<td>${state}<td>${condition}<td>${age}<td>${status.trouble ?? ''}</tr>`;
}
