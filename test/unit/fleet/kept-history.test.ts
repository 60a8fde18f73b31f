import { describe, expect, it } from 'vitest';
import { KeptHistory } from '../../../src/fleet/kept-history.ts';
import { ServerHistory } from '../../../src/fleet/server-history.ts';

const AT = 1_200_000;
const NOW = AT + 60_000;
const SERVER = { panel: 'main', id: '1a7ce997', seenAt: 0 };

/** The stored data of a server that ran for two minutes and crashed. */
function kept() {
  const history = new ServerHistory();
  history.seen('running', AT - 120_000, false);
  history.stopped({ at: AT - 60_000, reason: 'crashed' });
  return history.keep(AT, AT);
}

const { strip, unwantedStops } = kept();

/** The number of stops, and whether there is a strip; undefined without a history. */
function shown(history: ServerHistory | undefined) {
  return history && { stops: history.unwantedStops(NOW).length, strip: history.strip(NOW) !== undefined };
}

/** Readings of a history. Each is of a new history with this stored data. */
function views(server: { strip?: typeof strip; unwantedStops?: typeof unwantedStops }) {
  const kept = () => {
    const one = new KeptHistory();
    one.restore({ ...SERVER, ...server }, AT, NOW);
    return one;
  };
  return {
    recent: shown(kept().recent),
    withStops: shown(kept().withStops),
    known: shown(kept().known),
    written: shown(kept().written),
  };
}

describe('a history that was kept', () => {
  const [all, stripOnly, none] = [
    { stops: 1, strip: true },
    { stops: 0, strip: true },
    { stops: 0, strip: false },
  ];

  it.each([
    ['nothing', {}, { recent: undefined, withStops: undefined, known: undefined, written: none }],
    ['a strip', { strip }, { recent: undefined, withStops: undefined, known: stripOnly, written: stripOnly }],
    [
      'a strip and stops',
      { strip, unwantedStops },
      { recent: undefined, withStops: all, known: all, written: all },
    ],
    [
      'stops',
      { unwantedStops },
      {
        recent: undefined,
        withStops: { stops: 1, strip: false },
        known: { stops: 1, strip: false },
        written: { stops: 1, strip: false },
      },
    ],
  ])('is restored when it is needed: %s', (_what, server, expected) => {
    expect(views(server)).toEqual(expected);
  });

  it('is not needed for a history of stops that begins now', () => {
    const kept = new KeptHistory();
    kept.restore({ ...SERVER, strip }, AT, NOW);
    expect([kept.withStops, kept.recent]).toEqual([undefined, undefined]);
    const begun = new KeptHistory();
    begun.written.stopped({ at: NOW, reason: 'crashed' });
    for (const view of [begun.known, begun.recent, begun.withStops])
      expect(shown(view)).toEqual({ stops: 1, strip: false });
  });

  it('is restored once, and continued by what follows', () => {
    const kept = new KeptHistory();
    kept.restore({ ...SERVER, strip, unwantedStops }, AT, NOW);
    kept.written.stopped({ at: NOW, reason: 'crashed' });
    expect([kept.known, kept.recent, kept.withStops].map((one) => one === kept.written)).toEqual([
      true,
      true,
      true,
    ]);
    expect(shown(kept.known)).toEqual({ stops: 2, strip: true });
  });
});
