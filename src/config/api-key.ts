const APPLICATION_KEY = /^(?:ptla|papp)_/;
const MAX_LENGTH = 4_096;

/** What is wrong with an API key, without quoting it; undefined if nothing is. */
export function apiKeyProblem(key: string): string | undefined {
  if (key === '') return 'expected an API key, but it is empty';
  if (APPLICATION_KEY.test(key)) {
    return "expected a client API key (from an account's own settings), but this one is for the application API";
  }
  if (!/^[\x21-\x7e]+$/.test(key))
    return 'expected an API key without spaces, line breaks and special characters';
  return key.length > MAX_LENGTH ? 'expected an API key, but it is far too long for one' : undefined;
}

/** The key that a file holds: editors and `echo` end it with a newline. */
export function apiKeyOfFile(content: string): string {
  return content.replace(/\r?\n$/, '');
}
