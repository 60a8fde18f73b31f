import { describe, expect, it } from 'vitest';
import { NO_STOPS } from '../../../../src/domain/reading.ts';
import { sparkPaths, Track } from '../../../../src/status-page/browser/tracks.ts';

describe('a track', () => {
  const point = (value: number) => ({
    cpu_usage_cores: value,
    memory_usage_bytes: value,
    network_receive_bytes_per_second: value,
    network_transmit_bytes_per_second: value,
    players: value,
  });
  const remembered = (end: number, values: readonly (number | null)[]) => ({
    panel: 'main',
    server_id: 'a',
    step_seconds: 5,
    end_timestamp_seconds: end,
    series: { cpu_usage_cores: [...Array.from({ length: 60 - values.length }, () => null), ...values] },
    state_changes: [],
    stops: NO_STOPS,
  });

  it('continues from what the exporter remembers', () => {
    const track = new Track();
    track.remember(remembered(1_010, [1, null, 3]));
    track.add(1_012, point(4));
    track.add(1_016, point(5));
    expect(track.values('cpu_usage_cores').slice(-4)).toEqual([1, Number.NaN, 4, 5]);
    expect(track.times().slice(-2)).toEqual([1_010, 1_015]);
  });

  it('keeps streamed points that the exporter no longer remembers, such as after a restart', () => {
    const track = new Track();
    for (const [index, time] of [1_000, 1_005, 1_010].entries()) track.add(time, point(index));
    track.remember(remembered(1_020, [9]));
    expect(track.values('cpu_usage_cores').slice(-5)).toEqual([0, 1, 2, Number.NaN, 9]);
  });

  it('drops points older than five minutes', () => {
    const track = new Track();
    track.add(1_000, point(1));
    track.add(1_300, point(2));
    expect(track.values('cpu_usage_cores').filter((value) => !Number.isNaN(value))).toEqual([2]);
  });
});

it('a sparkline has gaps without data, and its highest value is at the top', () => {
  const { line, area } = sparkPaths([1, 2, Number.NaN, 0], 30, 10);
  expect(line).toBe('M0.0 5.0L10.0 0.0M30.0 10.0');
  expect(area).toBe('M0.0 10L0.0 5.0L10.0 0.0L10.0 10ZM30.0 10L30.0 10.0L30.0 10Z');
});
