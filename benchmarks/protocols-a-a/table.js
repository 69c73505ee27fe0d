/** The counts as Markdown. */

/**
 * @param {import('./count.js').Count} counted
 * @param {{ title: string, turns: number }} of the first run: its program, and the planned number of turns
 */
export function table({ runs, pass, fail, inconclusive, missing, rows }, { title, turns }) {
  const head = `# ${title} against itself, ${runs} runs of ${turns} turns and further ones`;
  const sum = (/** @type {'met' | 'missed' | 'uncertain'} */ name) =>
    rows.reduce((total, row) => total + row[name], 0);
  const [met, missed, uncertain] = [sum('met'), sum('missed'), sum('uncertain')];
  if (met + missed + uncertain === 0) return `${head}\n\nNo row was compared.\n`;
  const lines = rows.map(({ row, untold, ...counts }) => {
    const which = Object.entries(untold).map(([target, times]) => `${target} ${times}`);
    return `| ${row} | ${counts.met} | ${counts.missed} | ${counts.uncertain} | ${which.join(', ') || '–'} | ${counts.turns} |`;
  });
  return `${head}

${missing} of ${runs} runs missed a target; ${pass} passed, ${fail} failed, ${inconclusive} were inconclusive. Of ${met + missed + uncertain} targets
${met} were met, ${missed} missed, and ${uncertain} could not be told.

| Row | Met | Missed | Not told | By | Turns at most |
|---|---:|---:|---:|---|---:|
${lines.join('\n')}
`;
}
