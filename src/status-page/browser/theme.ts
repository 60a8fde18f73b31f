// The colors of the page: those of the system, or those that the viewer chose.

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** Undefined if the user has disabled it; a choice then lasts as long as the page. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** The colors that the viewer chose; `auto` are those of the system. */
export function storedTheme(): Theme {
  return THEMES.find((theme) => theme === storage()?.getItem(STORED)) ?? 'auto';
}

/** Uses and stores these colors. */
export function useTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  storage()?.setItem(STORED, theme);
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
}
