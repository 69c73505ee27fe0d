/**
 * Is a comment of a run that nobody vouches for plain enough to be shown in this repository's name?
 *
 * `k6 x comment` writes nothing else; but the pull request's own workflow ran it, and may have written anything. What is
 * refused is what GitHub would make something of: HTML beyond folds, links, pictures, mentions, references to issues and commits,
 * addresses, code, formulas, emoji, and a line that a bot could take for a command.
 */
export const MOST_BYTES = 65_536;

/** The gate, its verdict with the kind of doubt, and the conclusion (k6/internal/comment). */
const MARKER = /^<!-- windtunnel ([a-z0-9-]{1,60}) ([a-z-]{1,60}) (success|neutral|failure) -->\n/;
/** What a comment has of HTML, a gap without width apart. */
const KNOWN = /<\/?details>|<\/?summary>|<br>|&(?:amp|lt|gt);/g;
const HEADING = /^#{1,6} /gm;
/** A gap, while the text is looked at: no text has this character. */
const GAP = '\u0000';
/** An escape, which takes the meaning of Markdown from a character, and no other (CommonMark, 2.4). */
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
/** What stands for a character without its meaning, while the text is looked at. */
const PLAIN = '\u0001';

/** What no text may have that Markdown reads. @type {[RegExp, string][]} */
const MARKDOWN = [
  [/[<>]/, 'HTML'],
  [/&/, 'an entity'],
  [/[[\]]/, 'a link or a picture'],
  [/`|~~~|^( {4}|\t)/m, 'code'],
  [/\$/, 'a formula'],
  [/^\s*(?:[-*+]\s+)*\//m, 'a command'],
];

/** What no text may have that is seen, as GitHub looks for it where escapes are gone. @type {[RegExp, string][]} */
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
 * @param {string} gate whose comment it must be
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
