/** A NAT type that a probe could not tell is looked for once more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { said, samples, sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9' };
const { NOTE, measureNat } = await import('../../lib/udp/nat.js');

/** The proxy's report if its tries find this filtering. @param {(string | null)[]} filterings of each try */
function reportOf(filterings) {
  const left = [...filterings];
  const probe = (/** @type {any} */ { nat }) => ({
    state: 'done',
    error: null,
    outcome: {
      errors: {},
      nat: {
        mapping: 'endpoint_independent',
        filtering: nat.proxied ? left.shift() : 'endpoint_independent',
        idle: nat.idle_s,
      },
    },
  });
  sidecar.end = (specs) => specs.map(probe);
  samples.length = 0;
  const plane = /** @type {any} */ ({
    proxied: { proxied: true },
    direct: { proxied: false },
    specOf: (/** @type {any} */ { proxied }, /** @type {any} */ spec) => ({
      ...spec,
      nat: { ...spec.nat, proxied },
    }),
  });
  measureNat(plane, 'datagram', {
    idleS: [1],
    timeoutMs: 500,
    farEnds: ['127.0.0.1', '127.0.0.2'],
    least: 'moderate',
  });
  const strict = samples.filter(({ tags }) => tags?.kind === 'nat_strict').length;
  return { ...said()[NOTE].proxied, strict, left };
}

test('an unknown filter is looked for once more, and a known one is not', () => {
  const found = reportOf([null, 'address_dependent']);
  assert.deepEqual([found.filtering, found.idle, found.strict], ['address_dependent', [1], 0]);
  assert.deepEqual(reportOf(['address_dependent', null]).left, [null]);
  const unknown = reportOf([null, null]);
  assert.equal(unknown.filtering, null);
  assert.ok(unknown.strict > 0);
});
