// The image's HEALTHCHECK: exits with 0 if the exporter responds on HEALTHCHECK_ADDRESS (default
// 127.0.0.1:10317), and otherwise with 1. It has no password and no certificate, so any response
// counts if the exporter requires TLS or a password.
import { get } from 'node:http';
import { connect } from 'node:tls';

const TIMEOUT_MS = 4_000;
const UNAUTHORIZED = 401;

const { HEALTHCHECK_ADDRESS = '127.0.0.1:10317' } = process.env;

/** The form of `--web.listen-address`. Addresses of all interfaces are reached through loopback. */
const LISTEN_ADDRESS = /^(?:\[(?<v6>[\da-fA-F:.]+)\]|(?<name>[\w.-]*)):(?<port>\d{1,5})$/;
const LOOPBACK = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' };

const { v6, name = v6, port } = LISTEN_ADDRESS.exec(HEALTHCHECK_ADDRESS)?.groups ?? {};
if (!(Number(port) > 0 && Number(port) <= 65_535))
  fail('expected [host]:port, as in --web.listen-address: :10317, 127.0.0.1:10317 or [::1]:10317');
const host = LOOPBACK[name] ?? name;

function overHttp() {
  return new Promise((resolve, reject) => {
    const request = get({ host, port, path: '/-/healthy', agent: false }, ({ statusCode }) => {
      request.destroy();
      if (statusCode === 200 || statusCode === UNAUTHORIZED) resolve();
      else reject(new Error(`/-/healthy responded with ${statusCode}`));
    });
    request.on('error', reject);
  });
}

/**
 * A TLS server that rejects the client, for example because it has no certificate, counts as
 * healthy.
 */
function overTls() {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      socket.destroy();
      resolve();
    });
    socket.on('error', (error) => (/^ERR_SSL_.*ALERT/.test(error.code) ? resolve() : reject(error)));
  });
}

function fail(message) {
  console.error(`HEALTHCHECK_ADDRESS ${HEALTHCHECK_ADDRESS}: ${message}`);
  process.exit(1);
}

setTimeout(() => fail(`no response within ${TIMEOUT_MS / 1_000} s`), TIMEOUT_MS).unref();
try {
  await overHttp().catch((error) =>
    // A TLS server closes the connection on plain HTTP.
    error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_CONSTANT' ? overTls() : Promise.reject(error),
  );
} catch (error) {
  fail(error.message || error.code);
}
process.exit(0);
