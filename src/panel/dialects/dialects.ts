/** The dialects that exist. */
import type { Dialect, PanelAnswerText } from '../dialect.ts';
import { CALAGOPUS } from './calagopus.ts';
import { HYDRODACTYL } from './hydrodactyl.ts';
import { PTERODACTYL } from './pterodactyl.ts';

/** One that extends another comes before it. */
export const DIALECTS: readonly Dialect[] = [HYDRODACTYL, PTERODACTYL, CALAGOPUS];

/** What is spoken until something shows another one. */
export const DEFAULT_DIALECT = PTERODACTYL;

/** The dialect that the response shows, if it isn't this one. */
export function otherDialect(current: Dialect, answer: PanelAnswerText): Dialect | undefined {
  const shown = DIALECTS.find(({ recognizes }) => recognizes(answer));
  return shown === current || shown === current.extends ? undefined : shown;
}
