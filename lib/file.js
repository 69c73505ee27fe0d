import { attempt } from './attempt.js';

/**
 * The path of a file URL. import.meta.resolve() returns a URL with %20 for a space and %23 for #. k6's open() and
 * handleSummary() need a plain path.
 * @param {string} url of a file, file:///…; a path stays as it is
 * @returns {string} an absolute path
 */
export const pathOf = (url) =>
  url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : url;

/** In the init phase: the text of a file. Throws if the file cannot be read. @param {string} url an absolute path, or file:///… */
export const textOf = (url) => globalThis.open(pathOf(url));

/** textOf(), but null if the file cannot be read. @param {string} url @returns {string | null} */
export const textAt = (url) => attempt(() => textOf(url), null);

/** In the init phase: the bytes of a file; null if the file cannot be read. @param {string} path absolute @returns {ArrayBuffer | null} */
export const bytesAt = (path) => attempt(() => globalThis.open(path, 'b'), null);
