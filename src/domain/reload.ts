/** How a reload ended: what it changed in one line, or what was wrong, a line each and never a secret; then all is as before. */
export type ReloadOutcome =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly problems: string };
