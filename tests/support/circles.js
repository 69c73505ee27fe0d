/** Imports between files, and circles of them. Go's compiler refuses circles of packages; JavaScript and Rust allow them. */
import { posix } from 'node:path';

const { dirname, join, normalize } = posix;

/** @typedef {Map<string, Set<string>>} Graph the names that each name imports */

/**
 * Circles of a graph: its strongly connected components of two names or more (Tarjan 1972).
 * @param {Graph} graph
 * @returns {string[][]} in alphabetical order, and so are the names of each
 */
export function circlesOf(graph) {
  /** @type {Map<string, { index: number, low: number, open: boolean }>} */
  const seen = new Map();
  /** @type {string[]} */
  const stack = [];
  /** @type {string[][]} */
  const circles = [];
  /** @param {string} name */
  function visit(name) {
    const own = { index: seen.size, low: seen.size, open: true };
    seen.set(name, own);
    stack.push(name);
    for (const next of graph.get(name) ?? []) {
      const other = seen.get(next) ?? visit(next);
      if (other.open) own.low = Math.min(own.low, other.low);
    }
    if (own.low !== own.index) return own;
    const circle = stack.splice(stack.indexOf(name));
    for (const member of circle) /** @type {any} */ (seen.get(member)).open = false;
    if (circle.length > 1) circles.push(circle.sort());
    return own;
  }
  for (const name of graph.keys()) if (!seen.has(name)) visit(name);
  return circles.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The same imports between the folders of the files. @param {Graph} files @param {(file: string) => string} folderOf @returns {Graph} */
export function foldersOf(files, folderOf = dirname) {
  /** @type {Graph} */
  const folders = new Map();
  for (const [file, imports] of files)
    for (const other of imports) {
      const [from, to] = [folderOf(file), folderOf(other)];
      if (from !== to) folders.set(from, (folders.get(from) ?? new Set()).add(to));
    }
  return folders;
}

/** Imports of JavaScript files; imports of types only are left out. @param {Map<string, string>} sources text by path @returns {Graph} */
export function scriptImports(sources) {
  /** @type {Graph} */
  const graph = new Map();
  for (const [file, text] of sources) {
    const paths = [
      ...text.matchAll(/^(?:import|export)\s[^'";]*?from\s+'(\.[^']+)'|^import\s+'(\.[^']+)'/gm),
    ];
    graph.set(file, new Set(paths.map(([, from, bare]) => normalize(join(dirname(file), from ?? bare)))));
  }
  return graph;
}

/** The paths of a `use` tree: `a::{b, c::{d}}` is `a::b` and `a::c::d`. @param {string} tree @returns {string[]} */
function pathsOf(tree) {
  const open = tree.indexOf('{');
  if (open < 0) return [tree.trim().split(' as ')[0]];
  /** @type {string[]} */
  const parts = [];
  let depth = 0;
  let part = '';
  for (const char of tree.slice(open + 1, tree.lastIndexOf('}'))) {
    depth += Number(char === '{') - Number(char === '}');
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  parts.push(part);
  return parts.filter((one) => one.trim()).flatMap((one) => pathsOf(tree.slice(0, open).trim() + one.trim()));
}

/** The module of a file of a crate: `a/b.rs` and `a/b/mod.rs` are `a::b`. @param {string} file */
const moduleOf = (file) =>
  file
    .replace(/\.rs$/, '')
    .replace(/\/mod$|^main$/, '')
    .replaceAll('/', '::');

/**
 * Imports between the modules of a Rust crate, by `use` and by paths in the code. Unit tests at the end of a file are left out.
 * @param {Map<string, string>} sources text by path below src/
 * @returns {Graph}
 */
export function rustImports(sources) {
  const modules = new Set([...sources.keys()].map(moduleOf));
  /** @type {Graph} */
  const graph = new Map();
  for (const [file, whole] of sources) {
    const own = moduleOf(file);
    const text = whole.replace(/\/\/.*$/gm, '').replace(/#\[cfg\(test\)\]\s*mod \w+ \{[^]*/, '');
    const uses = [...text.matchAll(/\buse\s+([a-z_][^;]*);/g)].flatMap(([, tree]) =>
      pathsOf(tree.replaceAll(/\s+/g, ' ')),
    );
    const inline = text.replace(/\buse\s+[^;]*;/g, '').match(/\b(?:crate|super|self)(?:::\w+)+/g) ?? [];
    const imports = new Set(
      [...uses, ...inline].map((path) => target(path, own, modules)).filter((name) => name !== null),
    );
    imports.delete(own);
    graph.set(own, /** @type {Set<string>} */ (imports));
  }
  return graph;
}

/** The module that a path names, as seen from `own`; null: none of this crate. @param {string} path @param {string} own @param {Set<string>} modules */
function target(path, own, modules) {
  const words = path.split('::').map((word) => word.trim());
  let base = own ? own.split('::') : [];
  if (words[0] === 'crate') base = [];
  else if (words[0] !== 'self' && words[0] !== 'super' && !modules.has([...base, words[0]].join('::')))
    return null;
  for (; ['crate', 'self', 'super'].includes(words[0]); words.shift()) if (words[0] === 'super') base.pop();
  for (const word of words) {
    if (!modules.has([...base, word].join('::'))) break;
    base = [...base, word];
  }
  return base.join('::');
}
