import { printable } from '../domain/printable.ts';
import { asFields, asText } from './fields.ts';

/** What the body of a refused call is, and its words as plain text where it has any. */
export interface ErrorBody {
  /**
   * `envelope` is the panel's `errors` list, `message` its flat object, `other` what is none of these: mostly
   * the page of a proxy before the panel.
   */
  readonly form: 'envelope' | 'message' | 'other';
  readonly detail?: string;
}

/** A page's title stands at its front; the rest isn't looked at. */
const MAX_SCANNED = 4_096;

/** The words of an error answer, in whichever of the forms seen in the field it came. Never throws. */
export function decodeErrorBody(text: string, contentType: string): ErrorBody {
  const body = asFields(parseJson(text));
  if (body !== undefined) return decodeJson(body);
  const isPage = /html/i.test(contentType) || /^\s*</.test(text);
  return bodyOf('other', isPage ? pageTitle(text) : text);
}

function decodeJson(body: Readonly<Record<string, unknown>>): ErrorBody {
  if (Array.isArray(body['errors'])) {
    const first = asFields(body['errors'][0]);
    return bodyOf('envelope', asText(first?.['detail']) ?? asText(first?.['code']));
  }
  const words = asText(body['message']) ?? asText(body['error']);
  return bodyOf(words === undefined ? 'other' : 'message', words);
}

function bodyOf(form: ErrorBody['form'], words: string | undefined): ErrorBody {
  const detail = words === undefined ? '' : printable(words);
  return detail === '' ? { form } : { form, detail };
}

// The bounded repeats keep a hostile page from costing more than its length.
function pageTitle(page: string): string | undefined {
  return /<title[^>]{0,100}>([^<]{0,400})/i.exec(page.slice(0, MAX_SCANNED))?.[1];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
