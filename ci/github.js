/**
 * GitHub's REST API for the job that writes. After a server error, a lost answer or a rate limit, a request is repeated after a pause:
 * at most TRIES times in total, and only if GitHub asks for a pause of at most LONGEST_PAUSE_S.
 */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';
import { retry } from '@octokit/plugin-retry';
import { throttling } from '@octokit/plugin-throttling';

const TIMEOUT_S = 30;
const TRIES = 4;
const LONGEST_PAUSE_S = 120;

/**
 * A 403 or 429 with Retry-After is a rate limit, whatever its text. The throttling plugin only recognizes the text.
 * @param {Octokit} octokit
 */
function limitsByHeader(octokit) {
  octokit.hook.error('request', (error) => {
    const status = 'status' in error ? error.status : 0;
    const headers = 'response' in error ? error.response?.headers : undefined;
    if ((status === 403 || status === 429) && headers?.['retry-after'] !== undefined)
      error.message = `secondary rate limit: ${error.message}`;
    throw error;
  });
}

/** @param {number} pauseS @param {unknown} _options @param {unknown} _octokit @param {number} retries so far */
const patient = (pauseS, _options, _octokit, retries) => pauseS <= LONGEST_PAUSE_S && retries < TRIES - 1;

const { GITHUB_API_URL, GITHUB_REPOSITORY = '', GITHUB_TOKEN } = process.env;
const [owner, repo] = GITHUB_REPOSITORY.split('/');
const octokit = new (Octokit.plugin(limitsByHeader, paginateRest, retry, throttling))({
  auth: GITHUB_TOKEN,
  baseUrl: GITHUB_API_URL,
  log: { debug() {}, info() {}, warn() {}, error() {} },
  request: {
    fetch: (/** @type {string} */ url, /** @type {RequestInit} */ options) =>
      fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_S * 1000) }),
  },
  retry: { retries: TRIES - 1 },
  throttle: { onRateLimit: patient, onSecondaryRateLimit: patient },
});

const at = (/** @type {string} */ route) => route.replace(' ', ' /repos/{owner}/{repo}');

/** An error with a one-line message. @param {any} error of a request @param {string} route */
function withLine(error, route) {
  const { status, response, message } = error;
  const text =
    response === undefined ? message : `GitHub answers ${status} (${response.data?.message ?? ''})`;
  return new Error(`${text.replace(/\s+/g, ' ')} to ${route.split('?')[0]}`, { cause: error });
}

/**
 * @param {string} route method and path below the repository, such as GET /pulls @param {Record<string, unknown>} [parameters]
 * @returns {Promise<any>} the body of the answer
 */
export async function ask(route, parameters = {}) {
  try {
    return (await octokit.request(at(route), { owner, repo, ...parameters })).data;
  } catch (error) {
    throw withLine(error, route);
  }
}

/**
 * All items of a list, page by page.
 * @param {string} route @param {Record<string, unknown>} [parameters]
 * @returns {AsyncGenerator<any>}
 */
export async function* each(route, parameters = {}) {
  try {
    const pages = octokit.paginate.iterator(at(route), { owner, repo, per_page: 100, ...parameters });
    for await (const { data } of pages) yield* /** @type {any[]} */ (data);
  } catch (error) {
    throw withLine(error, route);
  }
}

/**
 * Changes the existing item, or creates it. The answer to a creation can be lost, so `find` looks again before each try.
 * @param {() => Promise<number | undefined>} find returns the id of the existing item
 * @param {{ create: string, change: (id: number) => string, body: Record<string, unknown> }} of routes
 * @returns {Promise<'created' | 'changed'>}
 */
export async function upsert(find, { create, change, body }) {
  for (let tried = 1; ; tried += 1) {
    const id = await find();
    if (id !== undefined) {
      await ask(change(id), body);
      return tried === 1 ? 'changed' : 'created';
    }
    try {
      await ask(create, { ...body, request: { retries: 0 } });
      return 'created';
    } catch (error) {
      const { status = 0 } = /** @type {any} */ (error).cause ?? {};
      if (status < 500 || tried === TRIES) throw error;
      await sleep(tried ** 2 * 1000);
    }
  }
}
