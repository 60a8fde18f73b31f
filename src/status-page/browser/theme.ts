const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** The colors that the viewer chose; `auto` are those of the system. */
export function storedTheme(): Theme {
  // Storage may be disabled; the choice then lasts as long as the page.
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

/** Uses and stores these colors. */
export function useTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  try {
    localStorage.setItem(STORED, theme);
  } catch {
    // Storage may be disabled; see above.
  }
}

export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
}
