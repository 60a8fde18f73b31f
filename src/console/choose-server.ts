import { printable } from '../domain/printable.ts';
import type { ServerTarget } from '../domain/server.ts';

/** A panel and the servers to choose from. */
export interface ServerChoices {
  readonly name: string;
  readonly servers: readonly ServerTarget[];
}

/** A panel and one of its servers. */
export interface Chosen<Panel> {
  readonly panel: Panel;
  readonly target: ServerTarget;
}

/** The number of names that a message lists. */
const LISTED = 10;

const SHORT_LENGTH = 8;
const SERVER_ID = /^[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/i;

/** The requested panels, or a message if there are none. */
export function choosePanels<Panel extends ServerChoices>(
  panels: readonly Panel[],
  name: string | undefined,
): readonly Panel[] | string {
  if (name === undefined) return panels;
  const named = panels.filter((panel) => panel.name === name);
  if (named.length > 0) return named;
  return `no panel "${printable(name)}" in the configuration (panels: ${namesOf(panels)})`;
}

/**
 * The server with this id, short or full, or this name; undefined if there is none, and a message if there are several. Among the
 * servers of one panel, an id takes precedence over a name. Among several panels it doesn't, because whoever names servers on one
 * of them could otherwise intercept an id of another, or the reverse.
 */
export function chooseServer<Panel extends ServerChoices>(
  panels: readonly Panel[],
  wanted: string,
): Chosen<Panel> | string | undefined {
  const all = panels.flatMap((panel) => panel.servers.map((target) => ({ panel, target })));
  const identified = all.filter(({ target }) => hasId(target, wanted));
  const isUnique = panels.length === 1 && identified.length > 0;
  const found = isUnique ? identified : all.filter(({ target }) => isCalled(target, wanted));
  const different = found.filter((one, index) => !found.slice(0, index).some((other) => isSame(one, other)));
  if (different.length <= 1) return different[0];
  const each = different.map(({ panel, target }) => `${shown(target)} on panel ${printable(panel.name)}`);
  return `"${printable(wanted)}" matches more than one server: ${each.join(', ')}; select the panel with --panel, or use an id`;
}

function isCalled(target: ServerTarget, wanted: string): boolean {
  return target.name === wanted || hasId(target, wanted);
}

/** A server may be both in the configuration and in the server list. */
function isSame<Panel>(one: Chosen<Panel>, other: Chosen<Panel>): boolean {
  return one.panel === other.panel && hasId(one.target, other.target.id);
}

/** The message for an unknown server. */
export function noSuchServer(panels: readonly ServerChoices[], wanted: string): string {
  const names = panels.flatMap(({ servers }) => servers.map(({ name }) => name));
  const there = names.length === 0 ? 'it lists none' : `servers: ${listed(names)}`;
  return `no server "${printable(wanted)}" in the configuration (${there})`;
}

/** The panels' names, formatted for a message. */
export function namesOf(panels: readonly ServerChoices[]): string {
  return listed(panels.map(({ name }) => name));
}

/** Whether the text is a server's id, short or full. */
export function isServerId(text: string): boolean {
  return SERVER_ID.test(text);
}

/** Whether the text is the server's id, short or full. */
export function hasId({ id, uuid }: ServerTarget, wanted: string): boolean {
  return isServerId(wanted) && (isSameId(id, wanted) || (uuid !== undefined && isSameId(uuid, wanted)));
}

// The short id is the beginning of the full one.
function isSameId(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  const isShort = a.length === SHORT_LENGTH || b.length === SHORT_LENGTH;
  return a === b || (isShort && a.slice(0, SHORT_LENGTH) === b.slice(0, SHORT_LENGTH));
}

function shown({ name, id }: ServerTarget): string {
  return name === id ? id : `${printable(name)} (${id})`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - LISTED;
  const first = names.slice(0, LISTED).map((name) => printable(name));
  return `${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
