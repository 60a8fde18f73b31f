// The bar at the top of the page.
import type { JSX } from 'preact';
import { type ColorScheme, nextColorScheme } from './color-scheme.ts';

/** The start and the duration of a lost connection as texts. */
export interface LostConnection {
  readonly since: string;
  readonly for: string;
}

interface Header {
  /** Undefined unless the connection is lost. */
  readonly lost: LostConnection | undefined;
  /** Whether the exporter has sent an event. */
  readonly isLive: boolean;
  readonly scheme: ColorScheme;
  readonly onScheme: (scheme: ColorScheme) => void;
}

/** The bar with the state of the connection, the links and the color switch. */
export function header({ lost, isLive, scheme, onScheme }: Header): JSX.Element {
  const { shard } = document.documentElement.dataset;
  return (
    <header class="top">
      <h1>Game servers</h1>
      {shard !== undefined && <span class="sub">shard {shard}</span>}
      {(lost !== undefined || isLive) && connection(lost)}
      <nav>
        <a href="metrics">Metrics</a>
        <a href="api/v1/servers">JSON</a>
        <button
          type="button"
          class="theme"
          title="Switch between system, light and dark colors"
          onClick={() => onScheme(nextColorScheme(scheme))}
        >
          Theme: {scheme === 'auto' ? 'system' : scheme}
        </button>
      </nav>
    </header>
  );
}

function connection(lost: LostConnection | undefined): JSX.Element {
  return (
    <>
      <p id="link" role="status" data-link={lost === undefined ? 'live' : 'lost'}>
        {lost === undefined ? 'live' : `no connection since ${lost.since}`}
      </p>
      {/* Not part of the status, which a screen reader would read every second. */}
      {lost !== undefined && <span class="sub">{lost.for}, reconnecting</span>}
    </>
  );
}
