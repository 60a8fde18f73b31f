// Loads the page again when the exporter was updated.

/** The exporter's name. */
export const PROGRAM = 'gameserver-exporter';

/** Another version's page may use another protocol, so the page is reloaded, once. */
export function isOtherProgram(version: string): boolean {
  const mine = document.documentElement.dataset['version'];
  const tried = `${PROGRAM}-reloaded-for`;
  if (version === mine || sessionStorage.getItem(tried) === version) return false;
  sessionStorage.setItem(tried, version);
  location.reload();
  return true;
}
