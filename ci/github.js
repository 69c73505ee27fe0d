/** GitHub's REST API, as far as a comment and a check take it. */
import process from 'node:process';

const SECONDS = 30;
const PAGES = 20;

/**
 * @param {string} method @param {string} path from the repository on, such as /pulls @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body) {
  const { GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN } = process.env;
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'x-github-api-version': '2022-11-28',
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(SECONDS * 1000),
  });
  if (!response.ok) throw new Error(`GitHub answers ${response.status} to ${method} ${path.split('?')[0]}`);
  return response.json();
}

/**
 * All of a list, page by page.
 * @param {string} path @param {string} [field] that has the list, where the answer is not the list itself
 * @returns {AsyncGenerator<any>}
 */
export async function* each(path, field) {
  for (let page = 1; page <= PAGES; page += 1) {
    const answer = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`);
    const list = field === undefined ? answer : answer[field];
    yield* list;
    if (list.length < 100) return;
  }
}
