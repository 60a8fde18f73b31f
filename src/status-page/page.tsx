import { html } from 'hono/html';
import { type FleetReading, type PanelReading, type ServerReading, shownProblem } from '../domain/reading.ts';
import { SERVER_STATES } from '../domain/server.ts';
import type { Triage } from './data/board.ts';
import { explained, explainedOf, nodesDown } from './data/problems.ts';
import { troubleText } from './data/trouble.ts';
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
 * The start page as of the monotonic instant `now`: links, what needs attention, and the servers in a plain table, which the
 * page's script replaces with a live one. Addresses are relative, so that it works below any path of a proxy.
 */
export function renderPage(
  fleet: FleetReading,
  version: string,
  now: number,
  triage: (server: ServerReading) => Triage | undefined = () => undefined,
) {
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
        <PlainUrgent servers={servers} triage={triage} />
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
              <PlainRow server={server} now={now} />
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

function countIn(servers: readonly ServerReading[], state: string, now: number): number {
  return servers.filter((server) => (server.isFresh(now) ? server.state : 'unknown') === state).length;
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

interface PlainUrgentProps {
  readonly servers: readonly ServerReading[];
  readonly triage: (server: ServerReading) => Triage | undefined;
}

/** The servers that need attention, most urgent first; nothing if there are none. */
function PlainUrgent({ servers, triage }: PlainUrgentProps) {
  const urgent = servers
    .flatMap((server) => {
      const found = triage(server);
      return found === undefined ? [] : [{ target: server.target, ...found }];
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

function PlainRow({ server, now }: { readonly server: ServerReading; readonly now: number }) {
  const { target, status, sampledAt } = server;
  const state = server.isFresh(now) ? server.state : 'unknown';
  const condition =
    status.blocked === undefined ? status.condition : `${status.condition}: ${status.blocked}`;
  const age = sampledAt === undefined ? NOTHING : `${span((now - sampledAt) / 1_000)} ago`;
  const problem = explainedOf({ condition: status.condition, problem: shownProblem(server, now) });
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
