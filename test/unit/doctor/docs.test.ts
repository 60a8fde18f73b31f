import { it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { expectSection } from '../../support/generated.ts';

it('the table of causes matches the code', () => {
  const rows = Object.values(CAUSES).map(
    ({ code, scope, meaning, remedy }) => `| \`${code}\` | ${scope} | ${meaning} | ${remedy} |`,
  );
  const table = ['| cause | concerns | likely | what to do |', '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
  expectSection('docs/doctor.md', 'causes', table);
});
