import { describe, expect, it } from 'vitest';
import { REMEDIES } from '../../../src/doctor/causes.ts';
import { errorTexts, speaksOfProxy, tlsTrouble } from '../../../src/doctor/error-codes.ts';
import { addressCause, upgradeCause } from '../../../src/doctor/node-cause.ts';
import { panelCause } from '../../../src/doctor/panel-cause.ts';
import { PanelError } from '../../../src/panel/errors.ts';

const coded = (code: string, message = code) => Object.assign(new Error(message), { code });

describe('the texts of an error', () => {
  it('are those of all that caused it, and of all that it bundles', () => {
    const bundle = new AggregateError([coded('ECONNREFUSED', 'one'), coded('EHOSTUNREACH', 'two')], 'both');
    const error = new Error('outer', { cause: bundle });
    expect(errorTexts(error)).toEqual(['outer', 'both', 'ECONNREFUSED', 'one', 'EHOSTUNREACH', 'two']);
  });

  it('end where causes go in a ring', () => {
    const error = new Error('ring');
    error.cause = error;
    expect(errorTexts(error).length).toBeLessThan(10);
  });

  it('of what is no error are none', () => {
    expect(errorTexts('words')).toEqual([]);
  });
});

describe('trouble with TLS', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'tls_expired'],
    ['CERT_NOT_YET_VALID', 'tls_not_yet_valid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_wrong_name'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_unknown_ca'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_unknown_ca'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_unknown_ca'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_unknown_ca'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_client_certificate'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tls_client_certificate'],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'tls_client_certificate'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_plain_port'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls'],
    ['ECONNREFUSED', undefined],
  ])('%s is %s', (code, trouble) => {
    expect(tlsTrouble(errorTexts(coded(code, 'words')))).toBe(trouble);
  });
});

describe('a proxy', () => {
  it.each([
    ['Proxy response (407) !== 200 when HTTP Tunneling', true],
    ['UND_ERR_PRX_TLS', true],
    ['the proxy at 127.0.0.1:3128 refuses', true],
    ['approximately', false],
  ])('"%s": %j', (text, spoken) => {
    expect(speaksOfProxy([text])).toBe(spoken);
  });
});

describe('the cause of a call that failed', () => {
  const direct = { url: 'https://panel.example.com', proxied: false };
  const failing = (kind: PanelError['kind'], cause: unknown) => new PanelError(kind, 'words', { cause });

  it.each([
    [failing('network', coded('ECONNREFUSED')), direct, 'connection'],
    [failing('network', coded('ECONNREFUSED')), { ...direct, proxied: true }, 'proxy'],
    [failing('network', coded('ECONNRESET')), direct, 'connection_cut'],
    [failing('network', coded('ECONNRESET')), { ...direct, url: 'http://127.0.0.1' }, 'https_needed'],
    [
      failing('network', coded('ECONNRESET')),
      { ...direct, url: 'http://127.0.0.1', met: true },
      'connection_cut',
    ],
    [failing('dns', coded('ENOTFOUND')), direct, 'dns'],
    [failing('timeout', coded('UND_ERR_CONNECT_TIMEOUT')), direct, 'timeout'],
    [failing('tls', coded('CERT_NOT_YET_VALID')), direct, 'tls_not_yet_valid'],
    [failing('tls', new Error('odd')), direct, 'tls'],
    [
      new PanelError('conflict', 'words', { fromPanel: true, status: 409, detail: 'is being restored' }),
      direct,
      'restoring',
    ],
    [new Error('no call at all'), direct, 'unexpected'],
  ])('%s on %j is %s', (error, contact, cause) => {
    expect(panelCause(error, contact)).toBe(cause);
  });
});

describe('the cause of an upgrade that failed', () => {
  it.each([
    [coded('ETIMEDOUT'), false, 'node_timeout'],
    [coded('ECONNREFUSED'), false, 'node_connection'],
    [coded('ECONNREFUSED'), true, 'node_proxy'],
    [coded('ENOTFOUND'), false, 'node_dns'],
    [coded('CERT_HAS_EXPIRED'), true, 'node_tls_expired'],
    [new Error('"x" leads to ::1; name the host in socket_hosts'), false, 'socket_address_local'],
  ] as const)('%s, through a proxy %j: %s', (error, proxied, cause) => {
    expect(upgradeCause({ error }, proxied)).toBe(cause);
  });
});

describe('the cause of an address that may not be used', () => {
  const strict = { allowsPlain: false, limitsHosts: false };
  it.each([
    ['ws://node.example.com', strict, 'socket_address_insecure'],
    ['ws://127.0.0.1', { ...strict, allowsPlain: true }, 'socket_address_local'],
    ['wss://node.example.com', { ...strict, limitsHosts: true }, 'socket_address_not_allowed'],
    ['wss://[::1]', strict, 'socket_address_local'],
    ['wss://me@node.example.com', strict, 'socket_address'],
    ['ftp://node.example.com', strict, 'socket_address'],
    ['', strict, 'socket_address'],
  ])('%s with %j: %s', (address, rules, cause) => {
    expect(addressCause(address, rules)).toBe(cause);
  });
});

describe('remedies', () => {
  it.each(Object.entries(REMEDIES))('of %s are sentences', (_cause, { likely, change }) => {
    for (const text of [likely, change]) expect(text).toMatch(/^[A-Z].*\.$/s);
  });
});
