/** The count as Markdown. */
import { PROMISED } from './count.js';

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`;

/**
 * @param {import('./count.js').Count} counted
 * @param {{ baseline: { engine: string, version: string | null }, turns: number }} of the first run's protocols
 */
export function table(
  { runs, compared, flagged, missed, share, interval, refuted, rows },
  { baseline, turns },
) {
  const head = `# ${baseline.engine} ${baseline.version ?? ''} against itself, ${runs} runs of ${turns} turns`;
  if (share === null || interval === null) return `${head}\n\nNo row was compared: too few turns.\n`;
  const [low, high] = interval.map(percent);
  const told = rows.map(({ row, targets, ...own }) => {
    const which = Object.entries(targets).map(([target, times]) => `${target} ${times}`);
    return `| ${row} | ${own.compared} | ${own.flagged} | ${which.join(', ') || '–'} | ${own.missed} |`;
  });
  return `${head}

Of ${compared} rows ${flagged} were told apart: ${percent(share)} (95 % interval ${low} to ${high}, as if all rows were independent);
${missed} missed a target. At most ${percent(PROMISED)} are promised: ${refuted ? 'refuted' : 'not refuted'}.

| Row | Compared | Told apart | By | Missed a target |
|---|---|---|---|---|
${told.join('\n')}
`;
}
