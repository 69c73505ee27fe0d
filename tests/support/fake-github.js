/**
 * The part of GitHub's API that ci/publish.js uses: one pull request, its comments, its checks, the artifacts and the jobs of one run.
 */
import { createServer } from 'node:http';

export const REPOSITORY = 'proxy-project/proxy';

/** @typedef {{ status: number, headers?: Record<string, string>, message?: string } | 'lost'} Fault lost: the request succeeds without an answer */

/**
 * @param {{ sha: string, owner: string, branch: string, artifacts?: { id: number, name: string, size_in_bytes: number,
 *   expired: boolean }[], comments?: { id: number, user: { login: string }, body: string }[],
 *   jobs?: { name: string, conclusion: string }[], faults?: Record<string, Fault[]> }} of the head of pull request 7; faults by
 *   the method and path that have them
 */
export async function startGitHub({
  sha,
  owner,
  branch,
  artifacts = [],
  comments = [],
  jobs = [],
  faults = {},
}) {
  /** @type {{ method: string, path: string, body: any, token: string }[]} */
  const asked = [];
  const pull = {
    number: 7,
    head: { sha, repo: { full_name: `${owner}/proxy` } },
    base: { repo: { full_name: REPOSITORY } },
  };
  /** @type {any[]} */
  const checks = [];
  const prefix = `/repos/${REPOSITORY}`;

  /** @param {string} method @param {URL} url @param {any} body @returns {any} undefined: 404 */
  function answer(method, url, body) {
    const path = url.pathname.replace(prefix, '');
    const of = `${method} ${path}`;
    if (of === 'GET /pulls') return url.searchParams.get('head') === `${owner}:${branch}` ? [pull] : [];
    if (of === 'GET /actions/runs/99/artifacts') return { artifacts };
    const page = Number(url.searchParams.get('page') ?? 1);
    const paged = (/** @type {any[]} */ list) => list.slice((page - 1) * 100, page * 100);
    if (of === 'GET /actions/runs/99/jobs') return { total_count: jobs.length, jobs: paged(jobs) };
    if (of === `GET /commits/${sha}/check-runs`) {
      const named = checks.filter(({ name }) => name === url.searchParams.get('check_name'));
      return { total_count: named.length, check_runs: paged(named) };
    }
    if (of === 'GET /issues/7/comments') return paged(comments);
    if (of === 'POST /issues/7/comments') {
      comments.push({ id: 1000 + comments.length, user: { login: 'github-actions[bot]' }, body: body.body });
      return comments.at(-1);
    }
    if (of === 'POST /check-runs') return checks[checks.push({ id: checks.length + 1, ...body }) - 1];
    return change(of, body);
  }

  /** Changes a comment or a check by its id. @param {string} of @param {any} body */
  function change(of, body) {
    const removed = comments.findIndex(({ id }) => of === `DELETE /issues/comments/${id}`);
    if (removed >= 0) return comments.splice(removed, 1)[0];
    const changed =
      comments.find(({ id }) => of === `PATCH /issues/comments/${id}`) ??
      checks.find(({ id }) => of === `PATCH /check-runs/${id}`);
    return changed && Object.assign(changed, body);
  }

  /** The page after this one, of a list with more. @param {URL} url @param {any} found */
  function nextOf(url, found) {
    const list = Array.isArray(found) ? found : Object.values(found ?? {}).find(Array.isArray);
    if (list?.length !== 100) return {};
    const next = new URL(url);
    next.searchParams.set('page', String(Number(url.searchParams.get('page') ?? 1) + 1));
    return { link: `<${next}>; rel="next"` };
  }

  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (data) => (text += data));
    request.on('end', () => {
      const url = new URL(request.url ?? '', `http://${request.headers.host}`);
      const body = text === '' ? undefined : JSON.parse(text);
      const token = request.headers.authorization ?? '';
      const method = request.method ?? '';
      asked.push({ method, path: url.pathname, body, token });
      const fault = faults[`${method} ${url.pathname.replace(prefix, '')}`]?.shift();
      const json = { 'content-type': 'application/json' };
      if (typeof fault === 'object') {
        response.writeHead(fault.status, { ...json, ...fault.headers });
        return response.end(JSON.stringify({ message: fault.message ?? 'Out of order' }));
      }
      const found = url.pathname.startsWith(prefix) ? answer(method, url, body) : undefined;
      if (fault === 'lost') return response.destroy();
      response.writeHead(found === undefined ? 404 : 200, { ...json, ...nextOf(url, found) });
      return response.end(JSON.stringify(found ?? { message: 'Not Found' }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    comments,
    checks,
    artifacts,
    pull,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
