/** GitHub's API as far as ci/publish.js asks it: one pull request, its comments, its checks, the artifacts and the jobs of one run. */
import { createServer } from 'node:http';

export const REPOSITORY = 'proxy-project/proxy';

/**
 * @param {{ sha: string, owner: string, branch: string, artifacts?: { id: number, name: string, size_in_bytes: number,
 *   expired: boolean }[], comments?: { id: number, user: { login: string }, body: string }[],
 *   jobs?: { name: string, conclusion: string }[] }} of the head of pull request 7
 */
export async function startGitHub({ sha, owner, branch, artifacts = [], comments = [], jobs = [] }) {
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
    const page = Number(url.searchParams.get('page'));
    const paged = (/** @type {any[]} */ list) => list.slice((page - 1) * 100, page * 100);
    if (of === 'GET /actions/runs/99/jobs') return { total_count: jobs.length, jobs: paged(jobs) };
    if (of === 'GET /issues/7/comments') return paged(comments);
    if (of === 'POST /issues/7/comments') {
      comments.push({ id: 1000 + comments.length, user: { login: 'github-actions[bot]' }, body: body.body });
      return comments.at(-1);
    }
    const edited = comments.find(({ id }) => of === `PATCH /issues/comments/${id}`);
    if (edited) return Object.assign(edited, { body: body.body });
    if (of === 'POST /check-runs') return checks.push(body) && body;
    return undefined;
  }

  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (data) => (text += data));
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://127.0.0.1');
      const body = text === '' ? undefined : JSON.parse(text);
      const token = request.headers.authorization ?? '';
      asked.push({ method: request.method ?? '', path: url.pathname, body, token });
      const found = url.pathname.startsWith(prefix) ? answer(request.method ?? '', url, body) : undefined;
      response.statusCode = found === undefined ? 404 : 200;
      response.end(JSON.stringify(found ?? { message: 'Not Found' }));
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
