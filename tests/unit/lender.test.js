/** tests/support/lender.js with stand-ins for systems: turns, traces, dead systems, and borrowers that end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { lendAll, withLent } from '../support/lend.js';
import { startLender } from '../support/lender.js';

const RELAY = /** @type {import('../support/lender.js').Wanted} */ (['pulsar-relay']);
const PANEL = /** @type {import('../support/lender.js').Wanted} */ (['panel', { driver: 'asyncmy' }]);

/** Traces on each instance, by its id. @type {Map<number, string[]>} */
const left = new Map();
/** @type {{ id: number, name: string, variables: object, child: import('node:child_process').ChildProcess }[]} */
let started = [];
/** @type {number[]} */
let ended = [];
/** @type {Awaited<ReturnType<typeof startLender>>} */
let lender;

/** A process that does nothing stands for a system. @param {string} name @param {object} variables */
async function start(name, variables) {
  const child = spawn('sleep', ['600']);
  await once(child, 'spawn');
  const id = started.length;
  started.push({ id, name, variables, child });
  left.set(id, []);
  return { id, processes: [{ name: 'main', pid: child.pid }] };
}

beforeEach(async () => {
  started = [];
  ended = [];
  lender = await startLender(() => ({
    start,
    end: async ({ id }) => {
      ended.push(id);
      started[id].child.kill('SIGKILL');
    },
    left: async (_name, { id }) => left.get(id) ?? [],
    stop: async () => {
      for (const { child } of started) child.kill('SIGKILL');
    },
  }));
});
afterEach(() => lender.stop());

/** The instance that a borrower gets, who leaves nothing. @param {typeof RELAY} wanted */
const idOf = (wanted) => withLent(wanted, async ({ id }) => id, lender.address);

test('one system serves all borrowers, one after the other, and each kind has one', async () => {
  assert.deepEqual([await idOf(RELAY), await idOf(RELAY), await idOf(PANEL)], [0, 0, 1]);
  assert.deepEqual(
    started.map(({ name, variables }) => [name, variables]),
    [
      ['pulsar-relay', { rate_limit: false }],
      ['panel', { driver: 'asyncmy' }],
    ],
  );
  /** @type {string[]} */
  const seen = [];
  await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      withLent(
        RELAY,
        async () => {
          seen.push(`${name} has it`);
          await new Promise((resolve) => setTimeout(resolve, 20));
          seen.push(`${name} had it`);
        },
        lender.address,
      ),
    ),
  );
  assert.deepEqual(
    seen,
    ['a', 'b', 'c'].flatMap((name) => [`${name} has it`, `${name} had it`]),
  );
});

test('borrowers of two systems never wait for each other', async () => {
  const both = [
    [RELAY, PANEL],
    [PANEL, RELAY],
  ];
  for (let round = 0; round < 5; round += 1)
    await Promise.all(
      both.map(async (wanted) => {
        const { instances, giveBack } = await lendAll(wanted, lender.address);
        assert.deepEqual(
          instances.map(({ id }) => started[id].name),
          wanted.map(([name]) => name),
        );
        await giveBack();
      }),
    );
});

test('a borrower that leaves something fails by name, and the next one gets another system', async () => {
  const leave = withLent(RELAY, async ({ id }) => left.set(id, ['1 topics left: mine']), lender.address);
  await assert.rejects(leave, /^AssertionError.*: lender\.test\.js left pulsar-relay: 1 topics left: mine/);
  assert.deepEqual([ended, await idOf(RELAY)], [[0], 1]);
});

test('a borrower whose system died fails by name, and the next one gets another system', async () => {
  const killed = withLent(
    RELAY,
    async ({ id }) => {
      started[id].child.kill('SIGKILL');
      await once(started[id].child, 'close');
    },
    lender.address,
  );
  await assert.rejects(killed, /left pulsar-relay: process main \(\d+\) ended/);
  assert.equal(await idOf(RELAY), 1);
});

test('a system that died between two loans is replaced', async () => {
  assert.equal(await idOf(RELAY), 0);
  started[0].child.kill('SIGKILL');
  await once(started[0].child, 'close');
  assert.equal(await idOf(RELAY), 1);
});

test("a body's own failure is told, and its system is given back", async () => {
  const fails = withLent(RELAY, () => Promise.reject(new Error('of the body')), lender.address);
  await assert.rejects(fails, /of the body/);
  assert.equal(await idOf(RELAY), 0);
});

test('a borrower that ends without giving back frees its system, or its place in the queue', async () => {
  const ask = `${JSON.stringify({ wanted: [RELAY], by: 'one that is killed' })}\n`;
  const holder = connect(lender.address);
  holder.write(ask);
  await once(holder, 'data');
  const waiting = connect(lender.address);
  waiting.write(ask);
  const next = idOf(RELAY);
  waiting.destroy();
  holder.destroy();
  assert.equal(await next, 0);
});

test('what is not lent is refused by name', async () => {
  await assert.rejects(idOf(['influxdb']), /influxdb is not lent: pulsar-relay, panel, sing-box-pair are/);
});

test('a process that lends waits for the end of its systems, which do not keep it alive', async () => {
  const script = `import { spawn } from 'node:child_process';
    import { once } from 'node:events';
    import { startLender } from ${JSON.stringify(new URL('../support/lender.js', import.meta.url))};
    const stop = async () => {
      const child = spawn('sleep', ['0.2']);
      child.unref();
      await once(child, 'exit');
    };
    const lender = await startLender(() => ({ stop }));
    await lender.stop();
    console.log('stopped');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  let output = '';
  child.stdout.on('data', (text) => void (output += text));
  const [code] = await once(child, 'close');
  assert.deepEqual([code, output], [0, 'stopped\n']);
});
