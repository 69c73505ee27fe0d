/** Our own modules are real: bin/k6, which `make bin/k6` builds, answers each question once. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const K6 = fileURLToPath(new URL('../../bin/k6', import.meta.url));

/** Answers, as JSON, by question: the same question has the same answer. @type {Map<string, string>} */
const answers = new Map();

/** @param {string} module @returns {(name: string) => (...asked: any[]) => any} by the name of an export */
export const asking =
  (module) =>
  (name) =>
  (...asked) => {
    const script = `import { ${name} } from '${module}';
export default () => {};
export const handleSummary = () => ({ stdout: JSON.stringify(${name}(...${JSON.stringify(asked)})) });`;
    const answer =
      answers.get(script) ??
      execFileSync(K6, ['run', '--quiet', '--no-usage-report', '-'], { input: script, encoding: 'utf8' });
    answers.set(script, answer);
    return JSON.parse(answer);
  };
