import { KNOWN_SECRETS } from '../../src/text/redaction.ts';

// Setup file: test files share a process, and a secret of one, such as `toString` in a fuzz test, would be redacted in the
// output of the next.
KNOWN_SECRETS.clear();
