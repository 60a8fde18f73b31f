// Whether a program outside the project is there, as `install-programs.ts` found it.
import { inject } from 'vitest';
import type { ProgramName } from './programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether each program that the selected tests name is installed. */
    readonly programs: Readonly<Partial<Record<ProgramName, boolean>>>;
  }
}

/** Whether a program is installed. Call it with a literal: `install-programs.ts` looks for those in the selected tests. */
export function hasProgram(name: ProgramName): boolean {
  const isInstalled = inject('programs')[name];
  if (isInstalled === undefined)
    throw new Error(
      `nobody looked for ${name}: call hasProgram with a literal, outside other projects' tests`,
    );
  return isInstalled;
}
