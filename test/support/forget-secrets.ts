import { KNOWN_SECRETS } from '../../src/domain/known-secrets.ts';

// Setup file: test files share a process, and what one calls a secret, such as `toString` in a fuzz test, would be struck out of
// what the next one expects.
KNOWN_SECRETS.clear();
