/** Reports of probes through a transparent proxy, with exact faults at the far end, and past a stopped proxy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { temporaryFolder } from '../support/k6.js';
import { mayMakeNamespaces } from '../support/namespaces.js';
import { startSidecar } from '../support/sidecar.js';
import { timely } from '../support/timely.js';

const skip = mayMakeNamespaces() ? false : 'no rights to make network namespaces';
const [THROUGH, ROUTED] = ['198.19.0.2', '198.19.0.3'];
const folder = temporaryFolder('tproxy');
/** @type {Awaited<ReturnType<typeof startSidecar>>} */
let sidecar;

before(async () => {
  sidecar = await startSidecar(folder.path);
});
after(async () => {
  await sidecar.stop();
  folder.remove();
});

/** @param {string} instance @param {string} host @param {object} [faults] */
async function echo(instance, host, faults) {
  const request = { host, namespace: { instance, name: 'server' }, ...(faults ? { faults } : {}) };
  const { status, body } = await sidecar.ask('POST', '/echoes', request);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** @param {string} instance @param {object} spec */
async function measure(instance, spec) {
  const namespace = { instance, name: 'client' };
  const { status, body } = await sidecar.ask('POST', '/probes', { namespace, ...spec });
  assert.equal(status, 201, JSON.stringify(body));
  return (await sidecar.ask('GET', `/probes/${body.id}?wait_s=20`)).body;
}

for (const engine of ['xray', 'sing-box']) {
  test(`exact loss and delay show through ${engine}`, { skip }, async () => {
    const { id } = await sidecar.start('tproxy', { engine });
    const late = await echo(id, THROUGH, { delay_ms: 100 });
    const tcp = await measure(id, { kind: 'tcp', target: late.tcp, count: 20 });
    assert.equal(tcp.outcome.succeeded, 20, JSON.stringify(tcp));
    const { p50_ns: p50 } = tcp.outcome.series[0];
    assert.ok(p50 > 100e6, `${p50 / 1e6} ms`);
    timely(p50 < 150e6, `${p50 / 1e6} ms`);
    const lossy = await echo(id, THROUGH, { loss: 0.1, seed: 7 });
    const udp = await measure(id, {
      kind: 'udp',
      target: lossy.udp,
      count: 1000,
      window: 8,
      payload_bytes: 512,
      timeout_ms: 400,
    });
    const { attempted, succeeded, errors } = udp.outcome;
    assert.equal(attempted, 1000);
    // The kernel of a busy machine may lose a few more.
    assert.ok(succeeded <= 900 && succeeded >= 890, JSON.stringify(udp));
    assert.deepEqual(errors, { lost: attempted - succeeded });
    await sidecar.ask('DELETE', `/instances/${id}`);
  });
}

test('what is routed does not meet the proxy: it goes on where the proxy is stopped', { skip }, async () => {
  const { id, processes } = await sidecar.start('tproxy', {});
  const [through, routed] = [await echo(id, THROUGH), await echo(id, ROUTED)];
  const burst = (/** @type {any} */ far, patience = { timeout_ms: 5000, stall_ms: 10_000 }) =>
    measure(id, { kind: 'udp', target: far.udp, count: 100, window: 4, ...patience });
  assert.equal((await burst(through)).outcome.succeeded, 100);
  process.kill(processes[0].pid, 'SIGSTOP');
  try {
    assert.equal((await burst(routed)).outcome.succeeded, 100);
    const stopped = await burst(through, { timeout_ms: 300, stall_ms: 1000 });
    assert.equal(stopped.outcome.succeeded, 0, JSON.stringify(stopped));
  } finally {
    process.kill(processes[0].pid, 'SIGCONT');
  }
  await sidecar.ask('DELETE', `/instances/${id}`);
});
