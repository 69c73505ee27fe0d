/** k6/crypto as far as lib/ uses it. */
import { createHash, createHmac } from 'node:crypto';

export default {
  /** @param {string} text @param {'hex'} encoding */
  sha256: (text, encoding) => createHash('sha256').update(text).digest(encoding),
  /** @param {'sha256'} algorithm @param {string} secret @param {string} text @param {'hex'} encoding */
  hmac: (algorithm, secret, text, encoding) => createHmac(algorithm, secret).update(text).digest(encoding),
};
