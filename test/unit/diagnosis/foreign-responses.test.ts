import { describe, expect, it } from 'vitest';
import {
  cloudflareMeaning,
  type ForeignResponse,
  foreignNodeCause,
  foreignPanelCause,
  pageCause,
} from '../../../src/diagnosis/foreign-responses.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';

const NGINX_403 = '403 Forbidden';
const CLOUDFLARE_STATUSES = [520, 521, 522, 523, 524, 525, 526, 527, 530];

/** The status and message of a response, and its causes for a panel and for a node. */
type Row = readonly [response: ForeignResponse, panel: CauseCode, node: CauseCode | undefined];

const ROWS: readonly Row[] = [
  [
    { status: 400, message: 'Client sent an HTTP request to an HTTPS server.' },
    'https_needed',
    'node_https_needed',
  ],
  [
    { status: 400, message: '400 The plain HTTP request was sent to HTTPS port' },
    'https_needed',
    'node_https_needed',
  ],
  [
    { status: 400, message: "Reason: You're speaking plain HTTP to an SSL-enabled server port." },
    'https_needed',
    'node_https_needed',
  ],
  [
    { status: 400, message: '400 No required SSL certificate was sent' },
    'tls_client_certificate',
    'node_tls_client_certificate',
  ],
  [{ status: 403, message: NGINX_403 }, 'access_rule', 'node_access_rule'],
  [{ status: 403 }, 'access_rule', 'node_access_rule'],
  [{ status: 403, message: NGINX_403, isChallenge: true }, 'challenge_page', 'node_challenge_page'],
  [{ status: 403, message: 'Just a moment...' }, 'challenge_page', 'node_challenge_page'],
  [{ status: 503, message: 'DDoS-Guard' }, 'challenge_page', 'node_challenge_page'],
  [{ status: 503, message: '503 Service Temporarily Unavailable' }, 'panel_down', undefined],
  [{ status: 502, message: 'example.com | 502: Bad gateway | Cloudflare' }, 'panel_down', undefined],
  [{ status: 407 }, 'proxy', 'node_proxy'],
  [{ status: 401, message: '401 Authorization Required' }, 'login_page', undefined],
  [{ status: 404, message: '404 page not found' }, 'not_a_panel', undefined],
  [{ status: 401, message: 'Grafana' }, 'not_a_panel', undefined],
  [{ status: 429 }, 'rate_limited', undefined],
  // Cloudflare's error 1015.
  [
    { status: 429, message: 'Access denied | panel.example.com used Cloudflare to restrict access' },
    'rate_limited',
    undefined,
  ],
  // Cloudflare's rate limiting rules may send a challenge, and its bot protection may send a 429.
  [{ status: 429, message: 'Just a moment...', isChallenge: true }, 'challenge_page', 'node_challenge_page'],
  [{ status: 504 }, 'timeout', undefined],
  [{ status: 500, message: 'Server Error' }, 'panel_error', undefined],
  // This message of the daemon says nothing about the node.
  ...[
    'The required authorization heads were not present in the request.',
    'The required authorization headers were not present in the request.',
  ].map((message): Row => [{ status: 401, message }, 'url_of_node', undefined]),
  [
    { status: 403, message: 'You are not authorized to access this endpoint.' },
    'url_of_node',
    'node_access_rule',
  ],
];

describe('a response of something else', () => {
  it.each(ROWS)('%j is %s for a panel, and %s for a node', (response, panel, node) => {
    expect(foreignPanelCause(response)).toBe(panel);
    expect(foreignNodeCause(response)).toBe(node);
  });

  it.each(CLOUDFLARE_STATUSES)("with Cloudflare's %i is about the server behind it", (status) => {
    for (const message of [undefined, `example.com | ${status}: unreachable | Cloudflare`]) {
      expect(foreignPanelCause({ status, message })).toBe('cloudflare');
      expect(foreignNodeCause({ status, message })).toBe('node_cloudflare');
    }
    expect(cloudflareMeaning(status)).toMatch(/^the server behind Cloudflare \S/);
  });

  it.each([500, 502, 503, 504, 519, 528])(
    'with %i says nothing about a server behind Cloudflare',
    (status) => {
      expect(cloudflareMeaning(status)).toBeUndefined();
    },
  );
});

describe('a page instead of JSON', () => {
  it.each<[what: string, page: string, message: string | undefined, isChallenge: boolean, cause: CauseCode]>([
    ['with a form', '<html><form method="post">', 'Welcome', false, 'login_page'],
    ['with a field for a password', '<div><input name="p" type="password">', undefined, false, 'login_page'],
    ['titled as a login', '<html>', 'Log in · Company', false, 'login_page'],
    [
      "of Pterodactyl's own",
      '<script>window.SiteConfiguration = {};</script>',
      'Pterodactyl',
      false,
      'login_page',
    ],
    ['of a bot check', '<html>', 'Checking your browser', false, 'challenge_page'],
    ['of Cloudflare', '<html><form>', undefined, true, 'challenge_page'],
    ['of another service', '<html><form>', 'phpMyAdmin', false, 'not_a_panel'],
    ['of a web server', '<html>', 'Welcome to nginx!', false, 'not_a_panel'],
    ['of PHP', '<br />\n<b>Deprecated</b>:  Function x', 'Deprecated:  Function x', false, 'bad_answer'],
    ['of anything else', '<html>', 'Our community', false, 'bad_answer'],
  ])('%s', (_what, page, message, isChallenge, cause) => {
    expect(pageCause(page, { message, isChallenge })).toBe(cause);
  });
});
