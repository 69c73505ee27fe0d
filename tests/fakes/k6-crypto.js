/** k6/crypto as far as lib/ uses it. */
import { createHash } from 'node:crypto';

export default {
  /** @param {string} text @param {'hex'} encoding */
  sha256: (text, encoding) => createHash('sha256').update(text).digest(encoding),
};
