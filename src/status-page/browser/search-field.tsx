// The search field for servers.
import type { JSX } from 'preact';
import { countText } from '../data/amounts.ts';
import { moveFocus } from './table.tsx';

interface SearchField {
  readonly text: string;
  /** The number of shown servers, and of all. */
  readonly shown: number;
  readonly all: number;
  readonly onSearch: (text: string) => void;
}

/** The field, after the number of matching servers. */
export function searchField({ text, shown, all, onSearch }: SearchField): JSX.Element {
  return (
    <>
      <p class="count" role="status">
        {shown === all ? '' : `${countText(shown)} of ${countText(all)}`}
      </p>
      <input
        type="search"
        class="search"
        aria-label="Search"
        // A touch screen has no key for it.
        placeholder={matchMedia('(hover: hover)').matches ? 'Search   ( / )' : 'Search'}
        value={text}
        onInput={({ currentTarget }) => onSearch(currentTarget.value)}
        onKeyDown={(event) => onKey(event, event.currentTarget, onSearch)}
      />
    </>
  );
}

function onKey(event: KeyboardEvent, search: HTMLInputElement, onSearch: SearchField['onSearch']): void {
  if (event.key === 'ArrowDown' || event.key === 'Enter') {
    event.preventDefault();
    moveFocus('Home');
  } else if (event.key === 'Escape') {
    search.blur();
    onSearch('');
  }
}

/** Focuses the field and selects its text. */
export function selectSearch(): void {
  document.querySelector<HTMLInputElement>('.search')?.select();
}
