import { SORT_KEYS, type Sorting } from './order.ts';

const FILTER_KINDS = ['attention', 'state', 'condition', 'panel'] as const;

/** A filter of the table: the servers behind one of the page's counts. */
export interface Filter {
  readonly kind: (typeof FILTER_KINDS)[number];
  /** The value that the servers share; for `attention` also a group of reasons, or `any`. */
  readonly word: string;
}

/** The servers to show, and their order; by attention unless chosen. */
export interface ServerSelection {
  readonly search: string;
  readonly filter: Filter | undefined;
  readonly sorting: Sorting | undefined;
}

/** Everything that the user chose on the page, as stored in its address. */
export interface View extends ServerSelection {
  /** The key of the server whose row is open. */
  readonly open: string | undefined;
}

/** The view described by a query of the page's address; invalid parameters are ignored. */
export function readView(query: string): View {
  const parameters = new URLSearchParams(query);
  return {
    search: parameters.get('q') ?? '',
    filter: readFilter(parameters.get('show') ?? ''),
    sorting: readSorting(parameters.get('sort') ?? ''),
    open: parameters.get('open') || undefined,
  };
}

/** The query that describes a view; other parameters are kept. */
export function writeView({ search, filter, sorting, open }: View, query: string): string {
  const parameters = new URLSearchParams(query);
  const values = {
    q: search,
    show: filter === undefined ? '' : `${filter.kind}:${filter.word}`,
    sort: sorting === undefined ? '' : `${sorting.isDescending ? '-' : ''}${sorting.key}`,
    open: open ?? '',
  };
  for (const [name, value] of Object.entries(values)) {
    if (value === '') parameters.delete(name);
    else parameters.set(name, value);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function readFilter(text: string): Filter | undefined {
  const colon = text.indexOf(':');
  const kind = FILTER_KINDS.find((name) => name === text.slice(0, colon));
  const word = text.slice(colon + 1);
  return kind === undefined || word === '' ? undefined : { kind, word };
}

function readSorting(text: string): Sorting | undefined {
  const isDescending = text.startsWith('-');
  const key = SORT_KEYS.find((name) => name === (isDescending ? text.slice(1) : text));
  return key === undefined ? undefined : { key, isDescending };
}
