// The user's choices on the page, as its address has them.
import { SORT_KEYS } from './sorting.ts';

/** The choices, under the names of the address's parameters; empty where nothing was chosen. */
export interface View {
  /** The text to search for. */
  readonly q: string;
  /**
   * The trait of the servers to show, that of one of the page's counts, such as `state:running`.
   */
  readonly show: string;
  /**
   * The key of the order, after a `-` if it is descending; without it, servers with problems come
   * first.
   */
  readonly sort: string;
  /** The key of the server whose row is open. */
  readonly open: string;
}

/** What each parameter may be. */
const VALID: Readonly<Record<keyof View, RegExp>> = {
  q: /./s,
  show: /^(attention|verdict|state|condition|panel|data):./s,
  sort: new RegExp(`^-?(${SORT_KEYS.join('|')})$`),
  open: /./s,
};

const NAMES = Object.keys(VALID) as readonly (keyof View)[];

/** The view described by a query of the page's address; invalid parameters are ignored. */
export function readView(query: string): View {
  const parameters = new URLSearchParams(query);
  const read = (name: keyof View) => {
    const text = parameters.get(name) ?? '';
    return VALID[name].test(text) ? text : '';
  };
  return { q: read('q'), show: read('show'), sort: read('sort'), open: read('open') };
}

/** The query that describes a view; other parameters are kept. */
export function writeView(view: View, query: string): string {
  const parameters = new URLSearchParams(query);
  for (const name of NAMES) {
    if (view[name] === '') parameters.delete(name);
    else parameters.set(name, view[name]);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** The view, and the function that changes it. */
export interface Choice {
  readonly view: View;
  readonly choose: (change: Partial<View>) => void;
}
