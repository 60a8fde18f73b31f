/** The subjects of a panel that can have an outage, by the channels on which servers are asked. */

/** The paths of the API by which servers are monitored. */
export const PATHS = ['listing', 'websocket', 'resources', 'backups', 'schedules'] as const;
export type Path = (typeof PATHS)[number];

/** Where servers are asked: a path of the API, or their console sockets. */
export const CHANNELS = [...PATHS, 'sockets'] as const;
export type Channel = (typeof CHANNELS)[number];

/** What can have an outage, besides a single server. `consoles` is access to any console. */
export type Subject = 'panel' | `path ${Path}` | 'consoles' | `sockets ${string}` | `polls ${string}`;

/** The server of calls that concern none. */
export const NO_SERVER = '';

const SUBJECT_OF_PATH = Object.fromEntries(PATHS.map((path) => [path, `path ${path}`])) as {
  readonly [P in Path]: `path ${P}`;
};

export const pathSubject = (path: Path): Subject => SUBJECT_OF_PATH[path];
/** A node's sockets, and its polls as the panel makes them. */
export const nodeSockets = (node: string): Subject => `sockets ${node}`;
export const nodePolls = (node: string): Subject => `polls ${node}`;

/** The node of a subject; undefined if it isn't a node's. */
export function subjectNode(subject: Subject): string | undefined {
  if (subject.startsWith('sockets ')) return subject.slice('sockets '.length);
  return subject.startsWith('polls ') ? subject.slice('polls '.length) : undefined;
}

const CHANNEL_OF_PATH = new Map<Subject, Channel>(PATHS.map((path) => [pathSubject(path), path]));

/** Where the subject fails; the panel is asked on several channels. */
export function subjectChannel(subject: Subject): Channel {
  if (subject === 'consoles') return 'websocket';
  if (subject.startsWith('sockets ')) return 'sockets';
  return CHANNEL_OF_PATH.get(subject) ?? 'resources';
}
