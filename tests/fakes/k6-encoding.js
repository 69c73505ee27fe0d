/** k6/encoding as far as lib/ uses it. */
export default {
  /** @param {string} text */
  b64encode: (text) => Buffer.from(text, 'utf8').toString('base64'),
  /** @param {string} text @param {'rawurl'} _encoding @param {'s'} _format */
  b64decode: (text, _encoding, _format) => Buffer.from(text, 'base64url').toString('utf8'),
};
