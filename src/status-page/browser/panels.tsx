import type { JSX } from 'preact';
import type { PanelStatus } from '../data/panel-status.ts';
import { counted, needsText } from '../data/words.ts';
import { bar } from './columns.tsx';
import type { LiveFleet } from './live-fleet.ts';
import { notice } from './parts.tsx';
import type { Choice } from './view.ts';

/** Notices above the table; the details have all. */
const MAX_NOTICES = 3;

/** What is wrong with panels and nodes. */
export function notices({ complaints }: LiveFleet): JSX.Element {
  const more = complaints.length - MAX_NOTICES;
  return (
    <div class="notices" role="status">
      {complaints.slice(0, MAX_NOTICES).map(notice)}
      {more > 0 && <p class="sub">{more} more: see the details.</p>}
    </div>
  );
}

/** Everything about each panel. */
export function panels(fleet: LiveFleet, { view, choose }: Choice): JSX.Element {
  const cards = fleet.panels.map((panel) => {
    const { name } = panel;
    const show = `panel:${name}`;
    const isChosen = view.show === show;
    const servers = fleet.servers.filter((server) => server.panel === name).length;
    return (
      <article key={name} class="panel">
        <div class="head">
          <h3>
            Panel <bdi>{name}</bdi>
          </h3>
          <button
            type="button"
            class="tile servers-of"
            aria-pressed={isChosen}
            onClick={() => choose({ show: isChosen ? '' : show })}
          >
            {counted(servers, 'server')}
          </button>
        </div>
        {panel.complaints.map(notice)}
        {budget(panel)}
        <p class="sub">{needsText(panel)}</p>
      </article>
    );
  });
  return <div class="grid">{cards}</div>;
}

/** How much of a panel's rate limit is used, and what it rejected. */
function budget(panel: PanelStatus): JSX.Element {
  const { usedLastMinute: used, limitPerMinute: limit, queueLength, paused } = panel.budget;
  const percent = limit > 0 ? (used / limit) * 100 : 0;
  const facts = [
    ['API calls in the last minute', `${used} of ${limit}`, false],
    ['queued', queueLength, false],
    ['rate-limited (429)', panel.rateLimited, panel.rateLimited > 0],
    ...(paused ? [['paused', 'rate limit exceeded', true]] : []),
  ] as const;
  const list = facts.map(([term, text, isBad]) => (
    <div key={term}>
      <dt>{term}</dt>
      <dd data-bad={isBad ? '' : undefined}>{text}</dd>
    </div>
  ));
  return (
    <>
      {bar(percent, percent >= 95 ? 'warning' : undefined)}
      <dl>{list}</dl>
    </>
  );
}
