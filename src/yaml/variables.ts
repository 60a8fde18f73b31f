/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables expanded, and what prevented the expansion of one. */
export interface Expansion {
  readonly text: string;
  readonly problems: readonly string[];
}

const ESCAPED = '$${';
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** A name in capitals was chosen by someone; anything else in a secret's place may be the secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

export function hasVariables(text: string): boolean {
  return text.match(REFERENCE)?.some((match) => match !== ESCAPED) === true;
}

/** Expands every `${VAR}` once; `$${` gives a literal `${`. A secret's text is never quoted in a problem. */
export function expandVariables(text: string, env: Environment, isSecret: boolean): Expansion {
  if (!text.includes('${')) return { text, problems: [] };
  const problems = new Set<string>();
  const expanded = text.replaceAll(REFERENCE, (match: string, name = '', close = '') => {
    if (match === ESCAPED) return '${';
    if (close === '' || !VARIABLE_NAME.test(name)) {
      problems.add('expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${');
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      const shown = !isSecret || CONVENTIONAL_NAME.test(name) ? ` ${name}` : ' named here';
      problems.add(`the environment variable${shown} is not set`);
    }
    return value ?? '';
  });
  return { text: expanded, problems: [...problems] };
}
