import type { Command } from 'commander';

/** The Markdown table of a command's flags, from its help; ends with a newline. */
export function renderFlags(command: Command): string {
  const rows = command.options.map(
    ({ flags, description, defaultValue, defaultValueDescription, argChoices }) => {
      const shown = defaultValueDescription ?? (defaultValue as string | undefined);
      const initial = shown === undefined ? '' : `\`${shown}\``;
      const choices =
        argChoices === undefined ? '' : `: ${argChoices.map((word) => `\`${word}\``).join(', ')}`;
      return [`\`${flags}\``, initial, `${description}${choices}`];
    },
  );
  return [['flag', 'default', 'meaning'], ['---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}
