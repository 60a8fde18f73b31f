/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A text with its variables filled in, and what kept one from being filled in. */
export interface Expansion {
  readonly text: string;
  readonly usesVariables: boolean;
  readonly problems: readonly string[];
}

const REFERENCE = /\$\$\{|\$\{([^}]*)(\}?)/g;
const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** A name in capitals is one that somebody chose; anything else in a secret's place may be the secret. */
const CONVENTIONAL_NAME = /^[A-Z_][A-Z0-9_]*$/;

/** Fills in every `${VAR}`, once; `$${` gives a literal `${`. A secret's text is never quoted in a problem. */
export function expandVariables(text: string, env: Environment, isSecret: boolean): Expansion {
  if (!text.includes('${')) return { text, usesVariables: false, problems: [] };
  const problems: string[] = [];
  let usesVariables = false;
  const expanded = text.replaceAll(REFERENCE, (match: string, name: string | undefined, close: string) => {
    if (match === '$${') return '${';
    usesVariables = true;
    if (name === undefined || close === '' || !VARIABLE_NAME.test(name)) {
      problems.push('expected a variable such as ${PANEL_API_KEY}; write $${ for a literal ${');
      return '';
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      const shown = !isSecret || CONVENTIONAL_NAME.test(name) ? ` ${name}` : ' that is named here';
      problems.push(`the environment variable${shown} is not set`);
    }
    return value ?? '';
  });
  return { text: expanded, usesVariables, problems: [...new Set(problems)] };
}
