// Whether other programs are installed, as `install-programs.ts` has found out.
import { inject } from 'vitest';
import type { ProgramName } from './programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The programs that the selected tests name, and whether each is installed. */
    readonly programs: Readonly<Partial<Record<ProgramName, boolean>>>;
  }
}

/**
 * Whether a program is installed. The argument must be a literal, because `install-programs.ts`
 * searches the selected tests for it.
 */
export function hasProgram(name: ProgramName): boolean {
  const isInstalled = inject('programs')[name];
  if (isInstalled === undefined)
    throw new Error(
      `nobody looked for ${name}: call hasProgram with a literal, outside other projects' tests`,
    );
  return isInstalled;
}
