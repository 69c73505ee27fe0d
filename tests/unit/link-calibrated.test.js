/** A smoke run calibrates its link briefly; other profiles do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import http from '../fakes/k6-http.js';

/** @type {any} */ (globalThis).__ENV = { SIDECAR_URL: 'http://127.0.0.1:9' };
const { calibrated } = await import('../../lib/link.js');

/** @type {unknown[]} */
const sent = [];
/** @type {any} */ (http).request = (
  /** @type {string} */ method,
  /** @type {string} */ url,
  /** @type {string} */ body,
) => {
  sent.push([method, new URL(url).pathname, JSON.parse(body)]);
  return { status: 200, json: () => ({ link: { title: 'Far' }, calibration: { ok: false } }) };
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
