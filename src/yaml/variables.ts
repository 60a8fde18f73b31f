/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

const ESCAPED = '$${';
const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** A name in capitals was chosen by someone; anything else may be a secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Expands every `${VAR}` once; `$${` gives a literal `${`. No problem quotes the text. */
export function expandVariables(text: string, env: Environment) {
  const problems = new Set<string>();
  const expanded = text.replaceAll(REFERENCE, (match: string, name = '', close = '') => {
    if (match === ESCAPED) return '${';
    if (close === '' || !VARIABLE_NAME.test(name)) {
      problems.add('expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${');
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
