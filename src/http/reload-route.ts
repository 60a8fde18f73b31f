import type { Context } from 'hono';
import type { ReloadOutcome } from '../domain/reload.ts';

/** Loads the configuration again. */
export type Reload = () => Promise<ReloadOutcome>;

/** Answers a request to reload; `reload` is absent where that isn't enabled. */
export function reloadRoute(reload: Reload | undefined): (c: Context) => Promise<Response> {
  return async (c) => {
    if (reload === undefined) {
      return c.text(
        'Reloading by HTTP is not enabled: start with --web.enable-lifecycle, or send SIGHUP.\n',
        403,
      );
    }
    if (isFromAnotherSite((name) => c.req.header(name))) {
      return c.text('Refused: the request comes from a page of another site.\n', 403);
    }
    const outcome = await reload();
    return outcome.ok ? c.text(`${outcome.summary}\n`) : c.text(`${outcome.problems}\n`, 500);
  };
}

/**
 * Did a browser send the request for a page that isn't ours? Browsers say so themselves, older ones by `Origin` alone; programs
 * send neither.
 */
export function isFromAnotherSite(header: (name: string) => string | undefined): boolean {
  const site = header('Sec-Fetch-Site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = header('Origin');
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== header('Host')?.toLowerCase();
}
