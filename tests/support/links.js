/** Links of Markdown pages and mentions of pages in code: whether their files and headings exist, without a network. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt({ html: true });
const ELSEWHERE = /^[a-z][a-z+.-]*:/i;
/** A page that code names, such as docs/benchmarks.md#noise; not the end of a longer path or of an address. */
const MENTION = /(?<![\w./-])docs\/[\w/-]+\.md(?:#[\w-]+)?/g;

/**
 * @typedef {{ line: number, target: string }} Link
 * @param {string} text of a page
 * @returns {{ links: Link[], anchors: Set<string> }}
 */
function parse(text) {
  const slugger = new GithubSlugger();
  const anchors = new Set();
  /** @type {Link[]} */
  const links = [];
  let heading = false;
  for (const token of markdown.parse(text, {})) {
    if (token.type === 'heading_open') heading = true;
    if (token.type !== 'inline') continue;
    const children = token.children ?? [];
    if (heading) anchors.add(slugger.slug(children.map(({ content }) => content).join('')));
    heading = false;
    const line = (token.map?.[0] ?? 0) + 1;
    for (const child of children) {
      const target = child.attrGet(child.type === 'image' ? 'src' : 'href');
      if (target !== null) links.push({ line, target: decodeURI(target) });
    }
  }
  return { links, anchors };
}

/**
 * @param {string} root of the checkout
 * @param {string} from the file that has the link
 * @param {string} target relative to the file
 * @returns {string} the fault of the link, or ''
 */
function fault(root, from, target) {
  const [path, anchor] = target.split('#');
  const file = path === '' ? from : normalize(join(dirname(from), path));
  if (file.startsWith('..')) return 'leads out of the checkout';
  const whole = join(root, file);
  if (!existsSync(whole)) return `no such file as ${file}`;
  if (anchor === undefined || !file.endsWith('.md')) return '';
  if (statSync(whole).isDirectory() || !parse(readFileSync(whole, 'utf8')).anchors.has(anchor))
    return `${file} has no heading #${anchor}`;
  return '';
}

/** @param {string} name @param {string} text @returns {Link[]} the links of a page, the mentions of any other file */
function linksOf(name, text) {
  if (name.endsWith('.md')) return parse(text).links.filter(({ target }) => !ELSEWHERE.test(target));
  const up = '../'.repeat(name.split('/').length - 1);
  return text
    .split('\n')
    .flatMap((content, index) =>
      [...content.matchAll(MENTION)].map(([mention]) => ({ line: index + 1, target: up + mention })),
    );
}

/**
 * @param {string} root of the checkout
 * @param {string[]} names of files in it
 * @returns {string[]} a line for each link that leads nowhere
 */
export const brokenLinks = (root, names) =>
  names.flatMap((name) =>
    linksOf(name, readFileSync(join(root, name), 'utf8')).flatMap(({ line, target }) => {
      const why = fault(root, name, target);
      return why ? [`${name}:${line}: ${target}: ${why}`] : [];
    }),
  );
