// Loads the page again when the exporter was updated.

/** The version for which the page was loaded again last. */
const KEY = 'gameserver-exporter-reloaded-for';

/**
 * Another version's page may use another protocol, so the page is loaded again, once for each.
 * Returns whether it is.
 */
export function reloadIfUpdated(version: string): boolean {
  const mine = document.documentElement.dataset['version'];
  if (version === mine || sessionStorage.getItem(KEY) === version) return false;
  sessionStorage.setItem(KEY, version);
  location.reload();
  return true;
}
