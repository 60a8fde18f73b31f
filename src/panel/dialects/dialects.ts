/** The list of dialects. */
import type { Dialect, PanelAnswerText } from '../dialect.ts';
import { CALAGOPUS } from './calagopus.ts';
import { HYDRODACTYL } from './hydrodactyl.ts';
import { PTERODACTYL } from './pterodactyl.ts';

/** A dialect that extends another one comes before it. */
export const DIALECTS: readonly Dialect[] = [HYDRODACTYL, PTERODACTYL, CALAGOPUS];

/** The dialect until a setting, a key or a response shows a different one. */
export const DEFAULT_DIALECT = PTERODACTYL;

/** The dialect of the response, if it isn't the current one. */
export function otherDialect(current: Dialect, answer: PanelAnswerText): Dialect | undefined {
  const shown = DIALECTS.find(({ recognizes }) => recognizes(answer));
  return shown === current || shown === current.extends ? undefined : shown;
}
