import { describe } from 'vitest';
import { testRestart } from '../support/restart-scenes.ts';

describe('over a stop of the exporter', () => {
  testRestart('SIGTERM');
});
