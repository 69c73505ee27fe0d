/** Which file it was: versions do not tell two builds apart. */
import crypto from 'k6/crypto';
import { pathOf } from '../file.js';

/**
 * SHA-256 of a program's file, hexadecimal; null where it cannot be read, which its start will tell. It reads a file, and
 * so works only while a script is loaded (k6's init context).
 * @param {Pick<import('./sides.js').Program, 'engine' | 'binary'>} program
 * @returns {string | null}
 */
export function digestOf({ engine, binary }) {
  const path = binary || pathOf(import.meta.resolve(`../../bin/${engine}`));
  try {
    return crypto.sha256(open(path, 'b'), 'hex');
  } catch {
    return null;
  }
}
