// A setup file that clears the known secrets before each test file.
import { KNOWN_SECRETS } from '../../src/text/redaction.ts';

// Test files share a process. A secret of one file, such as `toString` in a fuzz test, would
// otherwise be redacted in the output of the next.
KNOWN_SECRETS.clear();
