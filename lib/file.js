/**
 * The path behind a file's URL. import.meta.resolve() gives a URL, in which a space is %20 and # is %23; k6's open()
 * and handleSummary() take a path as it is.
 * @param {string} url of a file, file:///…
 * @returns {string} an absolute path
 */
export const pathOf = (url) => decodeURIComponent(url.replace(/^file:\/\//, ''));
