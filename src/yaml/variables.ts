// Expands environment variables in the texts of a file.

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const ESCAPED = '$${';
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** Operators after a name in shells and in Compose, for a default, an error or another value. */
const OPERATOR = /^[A-Za-z_]\w*(:?[-=?+])/;

function notAName(name: string): string {
  const operator = OPERATOR.exec(name)?.[1];
  return operator === undefined
    ? 'expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${'
    : `expected only a name in the braces, such as \${PANEL_API_KEY}: \`${operator}\` and what follows it is not supported; set the variable, or write the value itself`;
}

/** A name in capitals was chosen by someone. Any other text may be a secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Expands every `${VAR}` once; `$${` gives a literal `${`. No problem quotes the text. */
export function expandVariables(text: string, env: Environment) {
  const problems = new Set<string>();
  const expanded = text.replaceAll(REFERENCE, (match: string, name = '', close = '') => {
    if (match === ESCAPED) return '${';
    if (close === '' || !VARIABLE_NAME.test(name)) {
      problems.add(notAName(name));
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      const shown = CONVENTIONAL_NAME.test(name) ? name : 'named here';
      problems.add(`the environment variable ${shown} is not set`);
    }
    return value ?? '';
  });
  return { text: expanded, problems: [...problems] };
}
