/**
 * Borrows running systems from the lender of tests/run.js. A file that runs alone starts its own lender. A test that kills, restarts
 * or configures its system starts the system itself (sidecar.js). Borrow all systems of a test at once: two borrowers that each hold
 * one system could wait for each other.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { startLender } from './lender.js';

/** @typedef {import('./lender.js').Wanted} Wanted */

/** The variable with the address of the lender. */
export const LENDER = 'TEST_LENDER';

/** @type {Promise<string> | undefined} */
let own;

/** This process's own lender, which ends with it. */
async function startOwn() {
  const lender = await startLender();
  lender.unref();
  return lender.address;
}

/**
 * @param {Wanted[]} wanted
 * @param {string} [address] of the lender
 * @returns {Promise<{ instances: any[], giveBack: () => Promise<void> }>} instances as the sidecar answers their start. `giveBack` fails
 *   if something is left on a system
 */
export async function lendAll(wanted, address) {
  const socket = connect(address ?? process.env[LENDER] ?? (await (own ??= startOwn())));
  await once(socket, 'connect');
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  /** @param {object} question */
  const ask = async (question) => {
    socket.ref();
    socket.write(`${JSON.stringify(question)}\n`);
    const { done, value } = await lines.next();
    if (done) throw new Error('the lender of systems has ended');
    socket.unref();
    const { error, ...answer } = JSON.parse(value);
    if (error) throw new Error(error);
    return answer;
  };
  const by = basename(process.argv[1]);
  const { instances } = await ask({ wanted, by });
  const giveBack = async () => {
    const { left } = await ask({ given: true });
    socket.end();
    assert.deepEqual(left, [], `${by} left ${left.join('; ')}`);
  };
  return { instances, giveBack };
}

/** One system. @param {Wanted} wanted such as 'panel', { driver: 'asyncmy' } */
export async function lend(...wanted) {
  const { instances, giveBack } = await lendAll([wanted]);
  return { ...instances[0], giveBack };
}

/**
 * Returns the borrowed systems after a body, whether the body fails or not. Anything left on a system fails the test, too.
 * @template {{ giveBack: () => Promise<void> }} Loan
 * @template T
 * @param {Loan} loan
 * @param {(loan: Loan) => Promise<T>} body
 * @returns {Promise<T>}
 */
export async function using(loan, body) {
  let result;
  try {
    result = await body(loan);
  } catch (error) {
    // A failed body may leave something: the first failure counts.
    await loan.giveBack().catch((left) => console.error(left.message));
    throw error;
  }
  await loan.giveBack();
  return result;
}

/**
 * Borrows a system for a body.
 * @template T
 * @param {Wanted} wanted
 * @param {(instance: any) => Promise<T>} body
 * @param {string} [address] of the lender
 */
export const withLent = async (wanted, body, address) =>
  using(await lendAll([wanted], address), ({ instances: [instance] }) => body(instance));
