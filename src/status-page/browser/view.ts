// The user's choices on the page, which are stored in its address.
import { SORT_KEYS } from './sorting.ts';

/** The choices, with the names of the address's parameters; empty if nothing was chosen. */
export interface View {
  /** The text to search for. */
  readonly q: string;
  /** The trait by which servers are filtered, such as `state:running`. */
  readonly show: string;
  /**
   * The key of the order, with a leading `-` if it is descending. If it is empty, servers with
   * problems come first.
   */
  readonly sort: string;
  /** The key of the server with the open row. */
  readonly open: string;
}

/** The valid values of each parameter. */
const VALID: Readonly<Record<keyof View, RegExp>> = {
  q: /./s,
  show: /^(attention|verdict|state|condition|panel|data):./s,
  sort: new RegExp(`^-?(${SORT_KEYS.join('|')})$`),
  open: /./s,
};

const NAMES = Object.keys(VALID) as readonly (keyof View)[];

/** The view in the query of the page's address. Invalid parameters are ignored. */
export function readView(query: string): View {
  const parameters = new URLSearchParams(query);
  const read = (name: keyof View) => {
    const text = parameters.get(name) ?? '';
    return VALID[name].test(text) ? text : '';
  };
  return { q: read('q'), show: read('show'), sort: read('sort'), open: read('open') };
}

/** A query with this view. Other parameters are kept. */
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
