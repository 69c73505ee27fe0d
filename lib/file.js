/**
 * The path of a file URL. import.meta.resolve() returns a URL with %20 for a space and %23 for #. k6's open() and
 * handleSummary() need a plain path.
 * @param {string} url of a file, file:///…
 * @returns {string} an absolute path
 */
export const pathOf = (url) => decodeURIComponent(url.replace(/^file:\/\//, ''));
