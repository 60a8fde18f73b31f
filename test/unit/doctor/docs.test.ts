import { it } from 'vitest';
import { REMEDIES } from '../../../src/doctor/causes.ts';
import { expectSection } from '../../support/generated.ts';

it('the table of causes is what the code defines', () => {
  const rows = Object.entries(REMEDIES).map(
    ([cause, { likely, change }]) => `| \`${cause}\` | ${likely} | ${change} |`,
  );
  const table = ['| cause | likely | what to change |', '| --- | --- | --- |', ...rows].join('\n');
  expectSection('docs/doctor.md', 'causes', table);
});
