/** Reads the relay's answers. */

import { attempt } from '../attempt.js';
import { isAccepted, partOf } from '../answers.js';
import { ofResponse } from '../errors.js';

/** @typedef {import('k6/http').RefinedResponse<'text'>} Response */

/** Sequence numbers of the messages in a poll's answer; null if the answer is malformed. @param {Response} response @returns {number[] | null} */
const seqsOf = (response) =>
  attempt(() => partOf(response, 'messages').map((/** @type {any} */ { payload }) => payload.seq), null);

/**
 * The error of a poll's answer, which must have exactly the wanted messages; null: no error.
 * @param {Response} response
 * @param {number[]} wanted sequence numbers
 * @returns {import('../errors.js').ErrorKind | null}
 */
export function pollFault(response, wanted) {
  if (!isAccepted(response)) return ofResponse(response);
  const seqs = seqsOf(response);
  if (seqs?.length === 0 && wanted.length > 0) return 'lost';
  const same = seqs?.length === wanted.length && seqs.every((seq, index) => seq === wanted[index]);
  return same ? null : 'bad_response';
}

/** The relay's counts for a batch. @param {Response} response @returns {{ accepted?: number, rejected?: number }} */
export const summaryOf = (response) => partOf(response, 'summary') ?? {};
