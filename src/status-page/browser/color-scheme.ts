// Whether the page is light or dark, as the viewer chose or as the system is.

const COLOR_SCHEMES = ['auto', 'light', 'dark'] as const;
export type ColorScheme = (typeof COLOR_SCHEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** Undefined if the user has disabled it; a choice then lasts as long as the page. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** What the viewer chose; `auto` is as the system is. */
export function storedColorScheme(): ColorScheme {
  return COLOR_SCHEMES.find((scheme) => scheme === storage()?.getItem(STORED)) ?? 'auto';
}

/** Uses and stores this color scheme. */
export function useColorScheme(scheme: ColorScheme): void {
  document.documentElement.style.colorScheme = scheme === 'auto' ? 'light dark' : scheme;
  storage()?.setItem(STORED, scheme);
}

export function nextColorScheme(scheme: ColorScheme): ColorScheme {
  return COLOR_SCHEMES[(COLOR_SCHEMES.indexOf(scheme) + 1) % COLOR_SCHEMES.length] ?? 'auto';
}
