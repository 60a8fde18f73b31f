// Reloads the page after an update of the exporter.

/** The storage key of the version for which the page was last reloaded. */
const KEY = 'gameserver-exporter-reloaded-for';

/**
 * Reloads the page once for each version, because another version may have another protocol.
 * Returns whether it does.
 */
export function reloadIfUpdated(version: string): boolean {
  const mine = document.documentElement.dataset['version'];
  if (version === mine || sessionStorage.getItem(KEY) === version) return false;
  sessionStorage.setItem(KEY, version);
  location.reload();
  return true;
}
