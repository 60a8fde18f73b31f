import { describe, expect, it } from 'vitest';
import { hasAccess, namedServer } from '../../../src/simulator/api-host.ts';
import { SimulatedPanel } from '../../support/simulated-api.ts';

describe('a server in a path', () => {
  it('is named by its UUID or its short id', () => {
    const panel = new SimulatedPanel();
    const { survival } = panel;
    for (const id of [survival.uuid, survival.identifier]) {
      expect(namedServer(panel, id)).toEqual({
        found: survival,
        accessible: survival,
        target: { server: survival.uuid, node: 'node-1' },
      });
    }
  });

  it('is the requested id to the gate if there is none', () => {
    expect(namedServer(new SimulatedPanel(), '0badcafe')).toEqual({
      target: { server: '0badcafe' },
    });
  });

  it.each([
    [false, undefined],
    [true, 'survival'],
  ])('of another user is accessible for an administrator only: %s', (admin, name) => {
    const panel = new SimulatedPanel({ admin }, { owned: false });
    const { found, accessible } = namedServer(panel, panel.survival.uuid);
    expect([found?.name, accessible?.name]).toEqual(['survival', name]);
    expect(hasAccess(panel, panel.survival)).toBe(admin);
  });
});
