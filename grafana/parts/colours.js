/** Good, bad and doubtful, in words and colours. */
import {
  FieldColorBuilder,
  FieldColorModeId,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';

/** @typedef {import('@grafana/grafana-foundation-sdk/dashboard').ValueMapping} ValueMapping */

/** @param {[number | null, string][]} steps from which value on what colour; null is from below */
export const thresholds = (steps) =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(steps.map(([value, color]) => ({ value, color })));

export const byThresholds = () => new FieldColorBuilder().mode(FieldColorModeId.Thresholds);

/** @param {Record<string, [text: string, color?: string]>} texts @returns {ValueMapping[]} */
export const mapped = (texts) => [
  {
    type: MappingType.ValueToText,
    options: Object.fromEntries(
      Object.entries(texts).map(([value, [text, color]], index) => [
        value,
        color ? { text, color, index } : { text, index },
      ]),
    ),
  },
];

/** Codes of the measurement `verdicts`, in words and colours. @type {Record<string, [text: string, color: string]>} */
export const VERDICT_CODES = {
  0: ['pass', 'green'],
  1: ['fail', 'red'],
  2: ['inconclusive', 'orange'],
  3: ['set-up failed', 'red'],
  4: ['interrupted', 'orange'],
  5: ['left out', 'gray'],
};

export const VERDICTS = mapped(
  Object.fromEntries(Object.values(VERDICT_CODES).map(([text, color]) => [text, [text, color]])),
);

/** How a row of protocols ended on one side, and what was made of a target. */
export const OUTCOMES = mapped({
  measured: ['measured', 'green'],
  errors: ['errors', 'orange'],
  'corrupted payload': ['corrupted payload', 'red'],
  'died in mid-run': ['died in mid-run', 'red'],
  'crashed at start': ['crashed at start', 'red'],
  'not ready': ['not ready', 'red'],
  'refused configuration': ['refused configuration', 'red'],
  'ended at start': ['ended at start', 'red'],
  'missing binary': ['missing binary', 'red'],
  'impossible here': ['impossible here', 'gray'],
  'not reached': ['not reached', 'gray'],
});
export const JUDGEMENTS = mapped({
  met: ['met', 'green'],
  missed: ['missed', 'red'],
  uncertain: ['uncertain', 'orange'],
  bound: ['bound by the meter', 'orange'],
});

/** Results of thresholds and checks: 1 holds, 0 fails, and -1 has no result. */
export const HOLDS = mapped({ 1: ['✓', 'green'], 0: ['✗', 'red'], '-1': ['?', 'orange'] });
