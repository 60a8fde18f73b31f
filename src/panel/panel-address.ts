/** A panel's address as it is shown: without a username and password. */
export function withoutUserInfo(address: string): string {
  const url = new URL(address);
  return url.origin + url.pathname.replace(/\/$/, '');
}
