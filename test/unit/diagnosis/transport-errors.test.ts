import { describe, expect, it } from 'vitest';
import {
  nodeTransportCause,
  panelTransportCause,
  readTransportError,
} from '../../../src/diagnosis/transport-errors.ts';

const error = (code: string, message = `${code} happened`, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code });

const HTTPS = { protocol: 'https:', proxied: false, hasAnswered: false };

describe('a transport error', () => {
  it.each<[string, string, string]>([
    ['ENOTFOUND', 'dns', 'node_dns'],
    ['EAI_AGAIN', 'dns', 'node_dns'],
    ['ECONNREFUSED', 'connection', 'node_connection'],
    ['EHOSTUNREACH', 'connection', 'node_connection'],
    ['ECONNRESET', 'connection_cut', 'node_connection'],
    ['UND_ERR_SOCKET', 'connection_cut', 'node_connection'],
    ['ETIMEDOUT', 'timeout', 'node_timeout'],
    ['DEADLINE', 'timeout', 'node_timeout'],
    ['OVERSIZE', 'bad_answer', 'node_connection'],
    ['EMFILE', 'descriptors', 'descriptors'],
    ['ERR_PROXY', 'proxy', 'node_proxy'],
    ['ERR_SOCKET_ADDRESS', 'connection', 'socket_address_local'],
    ['UND_ERR_PRX_TLS', 'proxy', 'node_proxy'],
    ['CERT_HAS_EXPIRED', 'tls_expired', 'node_tls_expired'],
    ['CERT_NOT_YET_VALID', 'tls_not_yet_valid', 'node_tls_not_yet_valid'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_wrong_name', 'node_tls_wrong_name'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_unknown_ca', 'node_tls_unknown_ca'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'tls_unknown_ca', 'node_tls_unknown_ca'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls_unknown_ca', 'node_tls_unknown_ca'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls_unknown_ca', 'node_tls_unknown_ca'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls_client_certificate', 'node_tls_client_certificate'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tls_client_certificate', 'node_tls_client_certificate'],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'tls_client_certificate', 'node_tls_client_certificate'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'tls', 'node_tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_plain_port', 'node_tls_plain_port'],
    ['ERR_SSL_NO_PROTOCOLS_AVAILABLE', 'tls', 'node_tls'],
    ['EPROTO', 'tls', 'node_tls'],
    ['HPE_INVALID_CONSTANT', 'bad_answer', 'upgrade_refused'],
  ])('%s is %s for a panel and %s for a node', (code, panel, node) => {
    const read = readTransportError(error(code));
    expect([panelTransportCause(read.kind, HTTPS), nodeTransportCause(read.kind, false)]).toEqual([
      panel,
      node,
    ]);
  });

  it('is found in nested, aggregated and circular causes', () => {
    const inner = error('CERT_HAS_EXPIRED');
    const ring = error('WRAPPED');
    ring.cause = ring;
    expect(readTransportError(new Error('fetch failed', { cause: inner })).kind).toBe('tls_expired');
    expect(readTransportError(new AggregateError([inner, error('X')])).kind).toBe('tls_expired');
    expect(readTransportError(ring).kind).toBe('connection');
    expect(readTransportError(new Error('not HTTP')).kind).toBe('protocol');
    expect(readTransportError('a string').kind).toBe('connection');
  });

  it('is read from the OpenSSL message if its code is not specific enough', () => {
    const words = 'write EPROTO: ssl3_get_record:wrong version number';
    expect(readTransportError(error('EPROTO', words)).kind).toBe('tls_plain_port');
    expect(readTransportError(error('ECONNREFUSED', words)).kind).toBe('refused');
  });

  it.each([
    ['tlsv13 alert certificate required', 'tls_client_certificate'],
    ['ssl/tls alert bad certificate', 'tls_client_certificate'],
    ['sslv3 alert unsupported certificate', 'tls_client_certificate'],
    ['sslv3 alert certificate expired', 'tls_client_certificate'],
    ['tlsv1 alert unknown ca', 'tls_client_certificate'],
    ['tlsv1 alert protocol version', 'tls'],
  ])('with EPROTO and the OpenSSL message "%s" is %s', (words, kind) => {
    const message = `write EPROTO 806C43F60F7F0000:error:0A00042E:SSL routines:ssl3_read_bytes:${words}:rec_layer_s3.c`;
    expect(readTransportError(error('EPROTO', message)).kind).toBe(kind);
  });

  it.each([
    ['0A00010B', 'ssl3_get_record', 'wrong version number', "the port doesn't use TLS"],
    ['0A0000C6', 'tls_get_more_records', 'packet length too long', "the port doesn't use TLS"],
    ['0A00042E', 'ssl3_read_bytes', 'tlsv1 alert protocol version', 'no common TLS version'],
    ['0A000410', 'ssl3_read_bytes', 'ssl/tls alert handshake failure', 'no common cipher suite, or a client'],
    ['0A00045C', 'ssl3_read_bytes', 'tlsv13 alert certificate required', 'a client certificate is required'],
    ['0A000418', 'ssl3_read_bytes', 'tlsv1 alert unknown ca', 'the client certificate was rejected'],
    ['0A00018A', 'tls_process_ske_dhe', 'dh key too small', 'the certificate is too weak'],
    ['0A000458', 'ssl3_read_bytes', 'tlsv1 unrecognized name', 'the host name is unknown there'],
    ['0A000126', 'ssl3_read_n', 'unexpected eof while reading', 'the connection was closed'],
    ['0A0000FF', 'any_function', 'some new reason', 'the handshake failed'],
  ])("doesn't show OpenSSL's entry %s:%s:%s", (number, where, reason, meaning) => {
    const entry = `808B4C7C:error:${number}:SSL routines:${where}:${reason}:../deps/openssl/ssl/record.c:354:\n`;
    for (const message of [entry, `write EPROTO ${entry}`]) {
      const read = readTransportError(error('EPROTO', message));
      expect(read.message).toContain(meaning);
      expect(read.message).not.toMatch(/SSL routines|error:|\.c\b/);
    }
  });

  it('that cuts plain HTTP before the first response means that https is needed, but not later', () => {
    const cut = readTransportError(error('ECONNRESET'));
    const plain = { ...HTTPS, protocol: 'http:' };
    expect(panelTransportCause(cut.kind, plain)).toBe('https_needed');
    expect(panelTransportCause(cut.kind, { ...plain, hasAnswered: true })).toBe('connection_cut');
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND'])('%s through a proxy is attributed to the proxy', (code) => {
    const read = readTransportError(error(code));
    expect(panelTransportCause(read.kind, { ...HTTPS, proxied: true })).toBe('proxy');
    expect(nodeTransportCause(read.kind, true)).toBe('node_proxy');
  });

  it('about a certificate is not attributed to the proxy', () => {
    const read = readTransportError(error('CERT_HAS_EXPIRED'));
    expect(panelTransportCause(read.kind, { ...HTTPS, proxied: true })).toBe('tls_expired');
    expect(nodeTransportCause(read.kind, true)).toBe('node_tls_expired');
  });
});
