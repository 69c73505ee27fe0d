/**
 * Checks whether a comment from an untrusted run is plain enough to be published in this repository's name.
 *
 * `k6 x comment` writes only plain text. But the pull request's own workflow ran it, and may have written anything. So the check
 * refuses everything that GitHub would interpret: HTML beyond folds, links, pictures, mentions, references to issues and commits,
 * addresses, code, formulas, emoji, and a line that a bot could take for a command.
 */
export const MOST_BYTES = 65_536;

/** First line of a comment: the gate, its verdict with the kind of doubt, and the conclusion (k6/internal/comment). */
const MARKER = /^<!-- windtunnel ([a-z0-9-]{1,60}) ([a-z-]{1,60}) (success|neutral|failure) -->\n/;
/** HTML that a comment may have. The zero-width space is allowed too. */
const KNOWN = /<\/?details>|<\/?summary>|<br>|&(?:amp|lt|gt);/g;
const HEADING = /^#{1,6} /gm;
/** Replaces a zero-width space during the check. The checked text never has this character. */
const GAP = '\u0000';
/** An escape: the backslash removes the Markdown meaning of the character after it, and of no other (CommonMark, 2.4). */
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
/** Replaces an escaped character during the check. */
const PLAIN = '\u0001';

/** Forbidden in the text as Markdown reads it. @type {[RegExp, string][]} */
const MARKDOWN = [
  [/[<>]/, 'HTML'],
  [/&/, 'an entity'],
  [/[[\]]/, 'a link or a picture'],
  [/`|~~~|^( {4}|\t)/m, 'code'],
  [/\$/, 'a formula'],
  [/^\s*(?:[-*+]\s+)*\//m, 'a command'],
];

/** Forbidden in the visible text, where GitHub looks for references after it has removed escapes. @type {[RegExp, string][]} */
const SEEN = [
  // eslint-disable-next-line no-control-regex
  [/@(?!\u0000)/, 'a mention'],
  // eslint-disable-next-line no-control-regex
  [/#(?!\u0000)/, 'a reference'],
  [/\bgh-\d/i, 'a reference'],
  [/[0-9a-f]{7,}/i, 'a commit'],
  [/:[a-z0-9_+-]+:/i, 'an emoji'],
  [/:\/\//, 'an address'],
  [/www\./i, 'an address'],
];

/**
 * @param {Buffer} bytes
 * @param {string} gate that the comment must belong to
 * @returns {{ verdict: string, conclusion: string, text: string } | { wrong: string }}
 */
export function checkComment(bytes, gate) {
  if (bytes.length > MOST_BYTES)
    return { wrong: `it has ${bytes.length} bytes, and at most ${MOST_BYTES} are taken` };
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { wrong: 'it is no UTF-8' };
  }
  const marker = MARKER.exec(text);
  if (!marker) return { wrong: 'its first line is no marker of a gate' };
  if (marker[1] !== gate) return { wrong: `it is of the gate ${marker[1]}, not of ${gate}` };
  const body = text.slice(marker[0].length);
  if (/[\p{Cc}\p{Cf}]/u.test(body.replaceAll('\n', '')))
    return { wrong: 'it has a character that is not seen in it' };
  const bare = body.replaceAll('&#8203;', GAP).replaceAll(HEADING, '').replaceAll(KNOWN, PLAIN);
  const read = bare.replaceAll(ESCAPED, PLAIN);
  const seen = bare.replaceAll(ESCAPED, '$1');
  const wrong =
    MARKDOWN.find(([pattern]) => pattern.test(read)) ?? SEEN.find(([pattern]) => pattern.test(seen));
  if (wrong) return { wrong: `it has ${wrong[1]} in it` };
  return { verdict: marker[2], conclusion: marker[3], text };
}
