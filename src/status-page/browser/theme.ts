import { element } from './dom.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** A button that cycles through system, light and dark colors; `onChange` is called when the colors change. */
export function themeButton(onChange: () => void): HTMLButtonElement {
  const button = element('button', 'theme');
  button.type = 'button';
  let theme = stored();
  const show = () => {
    document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
    button.textContent = `Theme: ${theme === 'auto' ? 'system' : theme}`;
    button.title = 'Switch between system, light and dark colors';
  };
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    store(theme);
    show();
    onChange();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onChange);
  show();
  return button;
}

// Storage may be disabled; the choice then lasts as long as the page.
function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(STORED, theme);
  } catch {
    // Storage may be disabled; see above.
  }
}
