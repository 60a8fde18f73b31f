import { html } from 'hono/html';
import type { Clock } from '../domain/clock.ts';
import type { FleetReading, Snapshot } from '../domain/reading.ts';
import { SERVER_STATES } from '../domain/server.ts';
import { ATTENTION, attentionOf } from './data/attention.ts';
import { troublesOf } from './data/board.ts';
import { noticesOf } from './data/notices.ts';
import { explainedOf } from './data/problems.ts';
import { serverTrouble, troubleText } from './data/trouble.ts';
import { NOTHING, problemText, span, stateTitle } from './data/words.ts';

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
 * The start page: links, problems, and the servers in a plain table, which the
 * page's script replaces with a live one. Addresses are relative, so that it works below any path of a proxy.
 */
export function renderPage(fleet: FleetReading, version: string, clock: Pick<Clock, 'now' | 'toUnixMs'>) {
  const now = clock.now();
  const servers = fleet.servers().map((server) => server.snapshot(now, clock));
  const hidden = servers.length - MAX_ROWS;
  const hasPanels = fleet.panels().length > 1;
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
        <h1>
          gameserver-exporter <span class="sub">{version}</span>
        </h1>
        <p id="link" role="status" hidden></p>
        <nav>
          <a href="metrics">Metrics</a> <a href="api/v1/servers">JSON</a>{' '}
          <a class="check" href="-/healthy">
            Health
          </a>{' '}
          <a class="check" href="-/ready">
            Readiness
          </a>
        </nav>
      </header>
      <main id="status">
        <p>
          {servers.length} servers:{' '}
          {counts
            .filter(({ count }) => count > 0)
            .map(({ state, count }) => `${count} ${stateTitle(state)}`)
            .join(', ')}
        </p>
        <PlainNotices fleet={fleet} now={now} />
        <PlainUrgent servers={servers} hasPanels={hasPanels} />
        <table class="plain">
          <thead>
            <tr>
              {hasPanels ? <th>Panel</th> : null}
              <th>Server</th>
              <th>State</th>
              <th>Condition</th>
              <th>Last sample</th>
              <th>Problem</th>
            </tr>
          </thead>
          <tbody>
            {servers.slice(0, MAX_ROWS).map((server) => (
              <PlainRow server={server} hasPanels={hasPanels} />
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

/** What is wrong with panels and nodes; nothing if all is well. */
function PlainNotices({ fleet, now }: { readonly fleet: FleetReading; readonly now: number }) {
  const notices = noticesOf(troublesOf(fleet, now));
  if (notices.length === 0) return null;
  return (
    <section class="notices">
      {notices.map(({ severity, title, remedy, detail }) => (
        <div class="notice" data-severity={severity}>
          <p class="title">{title}</p>
          {remedy === '' ? null : <p>{remedy}</p>}
          {detail === '' ? null : <p class="sub">{detail}</p>}
        </div>
      ))}
    </section>
  );
}

interface PlainServers {
  readonly servers: readonly Snapshot[];
  /** Whether there are several panels, so that their names are shown. */
  readonly hasPanels: boolean;
}

/** The servers with problems, most urgent first; nothing if there are none. */
function PlainUrgent({ servers, hasPanels }: PlainServers) {
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
      <h2>{urgent.length === 1 ? '1 problem' : `${urgent.length} problems`}</h2>
      <ul>
        {urgent.slice(0, MAX_ROWS).map(({ target, trouble }) => (
          <li>
            {hasPanels ? `${target.panel}/${target.name}` : target.name}: {troubleText(trouble)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function PlainRow({ server, hasPanels }: { readonly server: Snapshot; readonly hasPanels: boolean }) {
  const { target, state, blocked, sample_age_seconds: seconds } = server;
  const condition = blocked === undefined ? server.condition : `${server.condition}: ${blocked}`;
  const age = seconds === undefined ? NOTHING : `${span(seconds)} ago`;
  const problem = explainedOf(server);
  const trouble = serverTrouble(server);
  const shown = problem === undefined ? trouble && troubleText(trouble) : problemText(problem);
  return (
    <tr>
      {hasPanels ? <td>{target.panel}</td> : null}
      <td>{target.name}</td>
      <td>{stateTitle(state)}</td>
      <td>{condition}</td>
      <td>{age}</td>
      <td>{shown ?? ''}</td>
    </tr>
  );
}
