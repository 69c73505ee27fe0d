import { attempt } from './attempt.js';

/**
 * The path of a file URL. import.meta.resolve() returns a URL with %20 for a space and %23 for #. k6's open() and
 * handleSummary() need a plain path.
 * @param {string} url of a file, file:///…; a path stays as it is
 * @returns {string} an absolute path
 */
export const pathOf = (url) =>
  url.startsWith('file://') ? decodeURIComponent(url.slice('file://'.length)) : url;

/** In the init phase: the text of a file; null if the file cannot be read. @param {string} url a path, or file:///… @returns {string | null} */
export const textAt = (url) => attempt(() => open(pathOf(url)), null);
