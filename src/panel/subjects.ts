/**
 * The subjects of a panel that can have an outage, and the channels on which their servers are
 * asked.
 */

/** The paths of the API that are called for servers. */
export const PATHS = ['listing', 'websocket', 'resources', 'backups', 'schedules'] as const;
export type Path = (typeof PATHS)[number];

/** The channels on which servers are asked: the paths of the API, and console sockets. */
export const CHANNELS = [...PATHS, 'sockets'] as const;
export type Channel = (typeof CHANNELS)[number];

/** A subject that can have an outage. `consoles` is the access to all consoles. */
export type Subject = 'panel' | `path ${Path}` | 'consoles' | `sockets ${string}` | `polls ${string}`;

/** Stands for the server of calls that concern none. */
export const NO_SERVER = '';

const SUBJECT_OF_PATH = Object.fromEntries(PATHS.map((path) => [path, `path ${path}`])) as {
  readonly [P in Path]: `path ${P}`;
};

export const pathSubject = (path: Path): Subject => SUBJECT_OF_PATH[path];
/** A node's sockets, and the panel's polls of the node. */
export const socketsSubject = (node: string): Subject => `sockets ${node}`;
export const pollsSubject = (node: string): Subject => `polls ${node}`;

/** The node of a subject; undefined for other subjects. */
export function subjectNode(subject: Subject): string | undefined {
  if (subject.startsWith('sockets ')) return subject.slice('sockets '.length);
  return subject.startsWith('polls ') ? subject.slice('polls '.length) : undefined;
}

const CHANNEL_OF_PATH = new Map<Subject, Channel>(PATHS.map((path) => [pathSubject(path), path]));

/** The channel on which the subject fails. The panel is asked on several. */
export function subjectChannel(subject: Subject): Channel {
  if (subject === 'consoles') return 'websocket';
  if (subject.startsWith('sockets ')) return 'sockets';
  return CHANNEL_OF_PATH.get(subject) ?? 'resources';
}
