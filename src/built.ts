/** The built program's folder: this one in a build, `dist` beside the sources where they run as they are. */
export const BUILT = new URL(import.meta.url.endsWith('.ts') ? '../dist/' : './', import.meta.url);
