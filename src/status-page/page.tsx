import { html } from 'hono/html';
import type { Clock } from '../domain/clock.ts';
import type { FleetReading, PanelReading, Snapshot } from '../domain/reading.ts';
import { SERVER_STATES } from '../domain/server.ts';
import { ATTENTION, attentionOf } from './data/attention.ts';
import { explained, explainedOf, nodesDown } from './data/problems.ts';
import { serverTrouble, troubleText } from './data/trouble.ts';
import { NOTHING, nodeDownText, problemText, span } from './data/words.ts';

/** The number of servers on the page without its script; with more, it would take long to build, and nobody would read it. */
const MAX_ROWS = 200;

/** The page's Content-Security-Policy: only its own files, and no text that becomes markup or script. */
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
 * The start page: links, what needs attention, and the servers in a plain table, which the
 * page's script replaces with a live one. Addresses are relative, so that it works below any path of a proxy.
 */
export function renderPage(fleet: FleetReading, version: string, clock: Pick<Clock, 'now' | 'toUnixMs'>) {
  const now = clock.now();
  const servers = fleet.servers().map((server) => server.snapshot(now, clock));
  const hidden = servers.length - MAX_ROWS;
  const counts = SERVER_STATES.map((state) => ({
    state,
    count: servers.filter((server) => server.state === state).length,
  }));
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
      <script type="module" src="assets/page.js"></script>
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
        {fleet.panels().map((panel) => (
          <PlainPanel panel={panel} now={now} />
        ))}
        <PlainUrgent servers={servers} />
        <table class="plain">
          <thead>
            <tr>
              <th>panel</th>
              <th>server</th>
              <th>state</th>
              <th>condition</th>
              <th>last sample</th>
              <th>problem</th>
            </tr>
          </thead>
          <tbody>
            {servers.slice(0, MAX_ROWS).map((server) => (
              <PlainRow server={server} />
            ))}
          </tbody>
        </table>
        {hidden > 0 ? <p>and {hidden} more, see the metrics</p> : null}
      </main>
    </body>
  </html>
)}
`;
}

/** A panel that is down or has problems, and its nodes that are down; nothing if there are none. */
function PlainPanel({ panel, now }: { readonly panel: PanelReading; readonly now: number }) {
  const problems = panel.problems.map((problem) => problemText(explained(problem)));
  const nodes = nodesDown(panel.nodes(now)).map(({ node, problem }) => nodeDownText(node, problem));
  const lines = [...problems, ...nodes];
  if (panel.up && lines.length === 0) return null;
  return (
    <section>
      <p>
        panel {panel.name} is {panel.up ? 'up' : 'down'}
      </p>
      <ul>
        {lines.map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </section>
  );
}

/** The servers that need attention, most urgent first; nothing if there are none. */
function PlainUrgent({ servers }: { readonly servers: readonly Snapshot[] }) {
  const urgent = servers
    .flatMap((server) => {
      const attention = attentionOf(server);
      const trouble = attention && serverTrouble(server);
      return trouble ? [{ target: server.target, urgency: ATTENTION.indexOf(attention), trouble }] : [];
    })
    .sort((one, other) => one.urgency - other.urgency);
  if (urgent.length === 0) return null;
  return (
    <section>
      <h2>{urgent.length === 1 ? '1 needs attention' : `${urgent.length} need attention`}</h2>
      <ul>
        {urgent.slice(0, MAX_ROWS).map(({ target, trouble }) => (
          <li>
            {target.panel}/{target.name}: {troubleText(trouble)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function PlainRow({ server }: { readonly server: Snapshot }) {
  const { target, state, blocked, sample_age_seconds: seconds } = server;
  const condition = blocked === undefined ? server.condition : `${server.condition}: ${blocked}`;
  const age = seconds === undefined ? NOTHING : `${span(seconds)} ago`;
  const problem = explainedOf(server);
  return (
    <tr>
      <td>{target.panel}</td>
      <td>{target.name}</td>
      <td>{state}</td>
      <td>{condition}</td>
      <td>{age}</td>
      <td>{problem === undefined ? '' : problemText(problem)}</td>
    </tr>
  );
}
