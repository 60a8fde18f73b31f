import { html } from 'hono/html';
import type { FleetReading, ServerReading } from '../domain/reading.ts';
import { SERVER_STATES } from '../domain/state.ts';
import { adviceFor } from '../status/advice.ts';
import { NOTHING, span } from '../status/format.ts';

/** Servers that the page shows without its script; more would make a page that nobody reads and that takes long to build. */
const MAX_ROWS = 200;

/** The page's Content-Security-Policy: its own files alone, and no text that becomes markup or script. */
export const PAGE_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  requireTrustedTypesFor: ["'script'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

/**
 * The start page as of the monotonic instant `now`: links, and the servers in a plain table, which the page's script replaces by
 * one that lives. Addresses are relative, so that it works below any path of a proxy.
 */
export function renderPage(fleet: FleetReading, version: string, now: number) {
  const servers = fleet.servers();
  const hidden = servers.length - MAX_ROWS;
  const counts = SERVER_STATES.map((state) => ({ state, count: countIn(servers, state, now) }));
  return html`<!doctype html>
${(
  <html lang="en" data-version={version}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>gameserver-exporter</title>
      <link rel="icon" href="assets/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="assets/uplot.css" />
      <link rel="stylesheet" href="assets/page.css" />
      <script type="module" src="assets/web/app.js"></script>
    </head>
    <body>
      <header class="top">
        <h1>gameserver-exporter {version}</h1>
        <p id="link" role="status" hidden></p>
        <nav>
          <a href="metrics">metrics</a> <a href="api/v1/servers">JSON</a> <a href="-/healthy">healthy</a>{' '}
          <a href="-/ready">ready</a>
        </nav>
      </header>
      <main id="status">
        <p>
          {servers.length} servers:{' '}
          {counts
            .filter(({ count }) => count > 0)
            .map(({ state, count }) => `${count} ${state}`)
            .join(', ')}
        </p>
        <table class="plain">
          <thead>
            <tr>
              <th>panel</th>
              <th>server</th>
              <th>state</th>
              <th>condition</th>
              <th>last sample</th>
              <th>last trouble</th>
            </tr>
          </thead>
          <tbody>
            {servers.slice(0, MAX_ROWS).map((server) => (
              <Row server={server} now={now} />
            ))}
          </tbody>
        </table>
        {hidden > 0 ? <p>and {hidden} more: see the metrics</p> : null}
      </main>
    </body>
  </html>
)}
`;
}

function countIn(servers: readonly ServerReading[], state: string, now: number): number {
  return servers.filter((server) => (server.isFresh(now) ? server.state : 'unknown') === state).length;
}

function Row({ server, now }: { readonly server: ServerReading; readonly now: number }) {
  const { target, status, sampledAt } = server;
  const state = server.isFresh(now) ? server.state : 'unknown';
  const condition =
    status.blocked === undefined ? status.condition : `${status.condition}: ${status.blocked}`;
  const age = sampledAt === undefined ? NOTHING : `${span((now - sampledAt) / 1_000)} ago`;
  const trouble = [status.trouble, adviceFor(status)].filter((words) => words !== undefined).join('. ');
  return (
    <tr>
      <td>{target.panel}</td>
      <td>{target.name}</td>
      <td>{state}</td>
      <td>{condition}</td>
      <td>{age}</td>
      <td>{trouble}</td>
    </tr>
  );
}
