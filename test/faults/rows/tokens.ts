// Faults of the renewal of tokens.
import { expect } from 'vitest';
import { blocked, DARK, POLLED, pictureOf, STREAMING } from '../../support/fault-picture.ts';
import type { FaultRow } from '../../support/fault-row.ts';
import { loseToken, type Scene } from '../../support/fault-scene.ts';
import { TARGET, TARGET_UUID } from '../../support/fault-stage.ts';
import { SLOW_MS, TOKENS_MS } from './bounds.ts';

const tokens = ({ panel }: Scene) =>
  panel.record.calls.filter(({ endpoint, server }) => endpoint === 'websocket' && server === TARGET_UUID);

/** The life of a token, so short that the test sees several renewals. */
const SHORT_LIFE_SECONDS = 60;

/**
 * Makes the target server stream with a token that expires soon. The tokens of other servers stay
 * valid.
 */
async function giveShortToken(scene: Scene): Promise<void> {
  const before = tokens(scene).length;
  scene.panel.set({ tokenLifetimeSeconds: SHORT_LIFE_SECONDS });
  loseToken(scene.panel);
  await scene.watch.until((scraped) => {
    expect(tokens(scene).length).toBeGreaterThan(before);
    expect(pictureOf(scraped)).toEqual(STREAMING);
  }, TOKENS_MS);
}

/** Waits until a renewal has failed, and asserts that the open socket still streams. */
function expectStillStreaming(scene: Scene): Promise<number> {
  const before = tokens(scene).length;
  return scene.watch.until((scraped) => {
    expect(tokens(scene).length).toBeGreaterThan(before);
    expect(pictureOf(scraped)).toEqual(STREAMING);
  }, SHORT_LIFE_SECONDS * 1_000);
}

const renewals = [401, 403, 404, 409, 500, 503].map((status): FaultRow => {
  const isLasting = status < 500;
  return {
    name: `a renewal that is refused with ${status}, while the socket lives as long as its token`,
    arrange: async (scene) => {
      await giveShortToken(scene);
      scene.panel.failRest({ kind: 'refuse', status, endpoint: 'websocket', server: TARGET });
      await expectStillStreaming(scene);
    },
    // A 404 may concern only one path, so it doesn't block the server.
    during: status === 409 ? blocked('maintenance') : POLLED,
    reconnects: 'token_expired',
    log: new RegExp(`/websocket returned ${status}`),
    lift: ({ panel }) => {
      panel.set({ tokenLifetimeSeconds: 600 });
      panel.clearFaults();
    },
    recoveryMs: isLasting ? SLOW_MS : TOKENS_MS,
  };
});

const expiries: readonly FaultRow[] = [
  {
    name: 'a token that expires while the panel is down',
    arrange: async (scene) => {
      await giveShortToken(scene);
      scene.panel.failRest({ kind: 'drop' });
      await expectStillStreaming(scene);
    },
    during: { ...DARK, panelUp: 0 },
    reconnects: 'token_expired',
    lift: ({ panel }) => {
      panel.set({ tokenLifetimeSeconds: 600 });
      panel.clearFaults();
    },
    recoveryMs: TOKENS_MS,
  },
];

/** All faults of the renewal of tokens. */
export const TOKEN_ROWS: readonly FaultRow[] = [...renewals, ...expiries];
