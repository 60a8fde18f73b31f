import { describe, expect, it } from 'vitest';
import type { ApiEndpoint } from '../../../../../src/domain/telemetry.ts';
import {
  isOwnBody,
  readRefusal,
  refusalCause,
} from '../../../../../src/panel/dialects/calagopus/refusals.ts';

describe('a refusal of Calagopus', () => {
  it.each([
    ['{"errors":["server not found"]}', { form: 'envelope', detail: 'server not found' }],
    ['{"errors":["a","b"]}', { form: 'envelope', detail: 'a; b' }],
    ['{"errors":[]}', { form: 'foreign' }],
    ['{"errors":[{"message":"x"}]}', { form: 'foreign', detail: 'x' }],
    ['{"errors":["x"],"success":false}', { form: 'foreign' }],
    ['<title>502 Bad Gateway</title>', { form: 'foreign', detail: '502 Bad Gateway' }],
  ])('is read: %s', (text, body) => {
    expect(readRefusal(text, '')).toEqual(body);
    expect(isOwnBody(text.startsWith('{') ? JSON.parse(text) : undefined)).toBe(body.form === 'envelope');
  });

  it.each<[ApiEndpoint, number, string, string]>([
    ['listing', 401, 'invalid api key', 'key_refused'],
    ['listing', 401, 'invalid authorization header', 'key_refused'],
    ['listing', 403, 'ip address not allowed for this api key', 'key_address'],
    ['websocket', 403, 'two-factor authentication required', 'key_two_factor'],
    ['resources', 403, 'account is suspended', 'key_refused'],
    ['listing', 403, 'you do not have permission to perform this action: servers.read', 'listing_refused'],
    ['backups', 403, 'you do not have permission to perform this action: backups.read', 'forbidden'],
    ['resources', 404, 'server not found', 'not_found'],
    ['resources', 404, 'no resource usage data found for server', 'server_not_on_node'],
    ['resources', 409, 'server is suspended', 'suspended'],
    ['resources', 409, 'server is being transferred', 'transferring'],
    ['resources', 409, 'server is currently installing', 'installing'],
    ['resources', 409, 'your server has failed its installation process', 'install_failed'],
    ['resources', 409, 'server is restoring from a backup', 'restoring'],
    ['resources', 409, 'your server has failed to restore a backup', 'restoring'],
    ['resources', 409, 'something new', 'maintenance'],
    ['websocket', 429, 'you are ratelimited, retry in 12s', 'rate_limited'],
    ['resources', 500, 'internal server error', 'panel_error'],
    ['backups', 400, 'per_page: greater than 100', 'bad_request'],
  ])('of %s with %i "%s" is %s', (endpoint, status, detail, cause) => {
    expect(refusalCause({ form: 'envelope', endpoint, status, detail, isApplicationKey: false })).toBe(cause);
  });
});
