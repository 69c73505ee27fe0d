/**
 * Is a comment of a run that nobody vouches for plain enough to be shown in this repository's name?
 *
 * `k6 x comment` writes nothing else; but the pull request's own workflow ran it, and may have written anything. What is
 * refused is what GitHub would make something of: HTML beyond folds, links, pictures, mentions, references to issues and commits,
 * addresses, code, formulas, emoji, and a line that a bot could take for a command.
 */
export const MOST_BYTES = 65_536;

const MARKER = /^<!-- windtunnel ([a-z0-9-]{1,60}) ([a-z-]{1,20}) -->\n/;
/** What a comment has of HTML, a gap without width apart. */
const KNOWN = /<\/?details>|<\/?summary>|<br>|&(?:amp|lt|gt);/g;
const HEADING = /^#{1,6} /gm;
/** A gap, while the text is looked at: no text has this character. */
const GAP = '\u0000';
/** An escape that takes its meaning from a character; a mention and a reference keep theirs. */
const ESCAPED = /\\[\\`[\]*~$]/g;

/** What may not be in it, and what it is called. @type {[RegExp, string][]} */
const REFUSED = [
  [/[<>]/, 'HTML'],
  [/&/, 'an entity'],
  [/[[\]]/, 'a link or a picture'],
  [/`/, 'code'],
  // eslint-disable-next-line no-control-regex
  [/@(?!\u0000)/, 'a mention'],
  // eslint-disable-next-line no-control-regex
  [/#(?!\u0000)/, 'a reference'],
  [/\bgh-\d/i, 'a reference'],
  [/[0-9a-f]{7,}/i, 'a commit'],
  [/:[a-z0-9_+\\-]+:/i, 'an emoji'],
  [/\$/, 'a formula'],
  [/^\s*~{3}/m, 'code'],
  [/^\s*\//m, 'a command'],
  [/:\/\//, 'an address'],
  [/www\./i, 'an address'],
];

/**
 * @param {Buffer} bytes
 * @param {string} gate whose comment it must be
 * @returns {{ verdict: string, text: string } | { wrong: string }}
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
  const rest = body
    .replaceAll('&#8203;', GAP)
    .replaceAll(HEADING, '')
    .replaceAll(KNOWN, ' ')
    .replaceAll(ESCAPED, ' ');
  for (const [pattern, what] of REFUSED) if (pattern.test(rest)) return { wrong: `it has ${what} in it` };
  return { verdict: marker[2], text };
}
