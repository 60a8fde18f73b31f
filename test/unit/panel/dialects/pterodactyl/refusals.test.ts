import { describe, expect, it } from 'vitest';
import type { PanelRefusal } from '../../../../../src/panel/dialect.ts';
import { refusalCause } from '../../../../../src/panel/dialects/pterodactyl/refusals.ts';

const refusal = (facts: Partial<PanelRefusal>): PanelRefusal => ({
  endpoint: 'resources',
  status: 403,
  form: 'envelope',
  isApplicationKey: false,
  ...facts,
});

// Recorded responses of panels are in `test/fixtures/panels`, and each status in each form in
// `test/faults/rows/rest.ts`.
describe("another rejection in the panel's own form", () => {
  it.each<[string, Partial<PanelRefusal>, string]>([
    ['an application key, by its prefix', { isApplicationKey: true }, 'application_key'],
    ['401 on the server list', { status: 401, endpoint: 'listing', form: 'message' }, 'key_refused'],
    [
      'the same for a good key that the web server has removed',
      { status: 401, endpoint: 'listing', detail: 'Unauthenticated.' },
      'key_refused',
    ],
    ['409 with an unknown message', { status: 409, detail: 'no' }, 'maintenance'],
    ['422', { status: 422 }, 'bad_request'],
    [
      'its database or cache, on another path',
      { status: 500, code: 'DecryptException', endpoint: 'backups' },
      'panel_error',
    ],
  ])('%s', (_, facts, cause) => {
    expect(refusalCause(refusal(facts))).toBe(cause);
  });
});

describe("a node's response that the panel forwards means nothing for the key or access to the server", () => {
  it.each<[number, number | undefined, string]>([
    [504, 401, 'node_token_mismatch'],
    [504, 403, 'node_token_mismatch'],
    [504, 404, 'server_not_on_node'],
    [504, 429, 'node_error'],
    [504, 500, 'node_error'],
    [504, 502, 'node_error'],
    [504, undefined, 'node_unreachable'],
    [500, undefined, 'node_unreachable'],
    [502, undefined, 'node_unreachable'],
    // Panels that return the node's status as their own.
    [403, undefined, 'node_token_mismatch'],
    [404, undefined, 'server_not_on_node'],
    [422, undefined, 'node_error'],
  ])('%d about the response %s', (status, answer, cause) => {
    const fromNode = answer === undefined ? {} : { status: answer };
    expect(refusalCause(refusal({ status, fromNode }))).toBe(cause);
  });
});
