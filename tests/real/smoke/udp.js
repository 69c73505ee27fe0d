/** The scenarios of UDP through a pair of sing-box, and TLS inside a tunnel of xray. */
import { before, test } from 'node:test';
import { smokeRun } from '../../support/smoke-run.js';
import {
  assertFlows,
  assertInnerTls,
  assertNat,
  assertQuic,
  assertQuicRows,
} from '../../support/udp-smoke.js';

/** @type {import('../../support/smoke-run.js').Smoke['run']} */
let run;
before(async () => {
  ({ run } = await smokeRun());
});

test('udp/nat: the associations of sing-box are a full cone NAT', () => assertNat(run));

test('udp/flows: each association carries, and each datagram is accounted for', () => assertFlows(run));

test('udp/quic: pages and downloads are whole by HTTP/3 and by HTTP/2', () => assertQuic(run));

test('protocols/inner-tls: sessions inside are TLS 1.3', () => assertInnerTls(run));

test('protocols/http3: pages and downloads are whole through a row', () => assertQuicRows(run));
