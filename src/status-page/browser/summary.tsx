import type { ComponentChildren, JSX } from 'preact';
import { CONDITIONS } from '../../domain/reading.ts';
import { SERVER_STATES } from '../../domain/server.ts';
import { ATTENTION, ATTENTION_CODES, groupOf } from '../data/attention.ts';
import type { LiveServer } from '../data/live-server.ts';
import { conditionTitle, stateTitle } from '../data/words.ts';
import { hasProblem, type LiveFleet, playersOf } from './live-fleet.ts';
import type { Choice } from './view.ts';

type ServerCounts = ReadonlyMap<string | undefined, number>;
type Titles = readonly (readonly [word: string, title: string])[];

/** Buttons with counts of servers, each of which filters the table; 0 is shown only while the table is filtered by it. */
function tiles(kind: string, counts: ServerCounts, titles: Titles, { view, choose }: Choice) {
  return titles.map(([word, title]) => {
    const show = `${kind}:${word}`;
    const isChosen = view.show === show;
    const amount = counts.get(word) ?? 0;
    if (amount === 0 && !isChosen) return null;
    return (
      <button
        key={show}
        type="button"
        class="tile"
        aria-pressed={isChosen}
        data-kind={kind}
        data-word={word}
        onClick={() => choose({ show: isChosen ? '' : show })}
      >
        <b>{amount}</b>
        <span>{title}</span>
      </button>
    );
  });
}

/** How many servers there are, run, are down or have warnings, and how many people play. */
export function summary({ servers, complaints }: LiveFleet, choice: Choice): JSX.Element {
  const groups = countsOf(servers, ({ attention }) => attention && groupOf(attention));
  const groupTitles: Titles = [
    ['down', 'down'],
    ['no_data', 'no data'],
    ['warning', groups.get('warning') === 1 ? 'warning' : 'warnings'],
  ];
  const playing = playersOf(servers);
  const isWell = servers.length > 0 && complaints.length === 0 && !servers.some(hasProblem);
  return (
    <section class="summary" aria-label="Summary">
      <button
        type="button"
        class="total"
        aria-pressed={choice.view.show === ''}
        onClick={() => choice.choose({ show: '' })}
      >
        <strong>{servers.length}</strong>
        <span>{servers.length === 1 ? 'server' : 'servers'}</span>
      </button>
      {tiles('state', statesOf(servers), [['running', 'running']], choice)}
      {tiles('attention', groups, groupTitles, choice)}
      {playing !== undefined && (
        <p class="playing">
          <b>{playing}</b> {playing === 1 ? 'player' : 'players'}
        </p>
      )}
      {isWell && <p class="well">No problems</p>}
    </section>
  );
}

/** All counts of servers, in named groups. */
export function counts({ servers }: LiveFleet, choice: Choice): JSX.Element {
  const problems = problemsOf(servers);
  const reasons = countsOf(servers, ({ attention }) => attention ?? 'none');
  const reasonTitles = ATTENTION_CODES.map((word) => [word, ATTENTION[word].title] as const);
  const anyTitle: Titles = [['any', problems === 1 ? 'problem' : 'problems']];
  const stateTitles = SERVER_STATES.map((word) => [word, stateTitle(word)] as const);
  const conditions = countsOf(servers, ({ condition }) => condition);
  const conditionTitles = CONDITIONS.map((word) => [word, conditionTitle(word)] as const);
  return (
    <div class="counts">
      {problems > 0 &&
        group('Problems', [
          tiles('attention', new Map([['any', problems]]), anyTitle, choice),
          tiles('attention', reasons, reasonTitles, choice),
        ])}
      {group('States', tiles('state', statesOf(servers), stateTitles, choice))}
      {group('Monitoring', tiles('condition', conditions, conditionTitles, choice))}
    </div>
  );
}

function group(title: string, children: ComponentChildren): JSX.Element {
  return (
    <section key={title} class="tiles" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** The document's title: how many servers run, and before it how many have problems. */
export function titleOf({ servers }: LiveFleet): string {
  const problems = problemsOf(servers);
  const title = `${statesOf(servers).get('running') ?? 0}/${servers.length} running · Game servers`;
  return problems === 0 ? title : `(${problems}) ${title}`;
}

function statesOf(servers: readonly LiveServer[]): ServerCounts {
  return countsOf(servers, ({ state }) => state);
}

function problemsOf(servers: readonly LiveServer[]): number {
  return servers.filter(({ attention }) => attention !== undefined).length;
}

function countsOf(
  servers: readonly LiveServer[],
  wordOf: (server: LiveServer) => string | undefined,
): ServerCounts {
  const found = new Map<string | undefined, number>();
  for (const word of servers.map(wordOf)) found.set(word, (found.get(word) ?? 0) + 1);
  return found;
}
