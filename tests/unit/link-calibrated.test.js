/** A smoke run calibrates its link briefly; other profiles do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sidecar } from '../fakes/k6-record.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9' };
const { calibrated } = await import('../../lib/link.js');

/** @type {unknown[]} */
const sent = [];
sidecar.send = (method, path, body) => {
  sent.push([method, path, body]);
  return { answer: { link: { title: 'Far' }, calibration: { ok: false } }, error: null };
};

for (const [profile, brief] of Object.entries({ smoke: true, quick: false, full: false })) {
  test(`the calibration of ${profile} is ${brief ? 'brief' : 'whole'}, and its finding is kept`, () => {
    sent.length = 0;
    /** @type {any} */ (globalThis).__ENV.PROFILE = profile;
    const { about, calibration } = calibrated('far');
    assert.deepEqual(sent, [['POST', '/links/calibrate', { text: 'far', brief }]]);
    assert.equal(about.title, 'Far');
    assert.equal(calibration.ok, false);
  });
}
