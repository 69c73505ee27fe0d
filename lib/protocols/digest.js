/** Identifies a program's file: two builds may have the same version. */
import crypto from 'k6/crypto';
import { bytesAt, pathOf } from '../file.js';

/**
 * SHA-256 of a program's file, hexadecimal; null if the file cannot be read, which its start will report. It reads a file, so it
 * works only in k6's init context.
 * @param {Pick<import('./sides.js').Program, 'engine' | 'binary'>} program
 * @returns {string | null}
 */
export function digestOf({ engine, binary }) {
  const path = binary || pathOf(import.meta.resolve(`../../bin/${engine}`));
  const bytes = bytesAt(path);
  return bytes && crypto.sha256(bytes, 'hex');
}
