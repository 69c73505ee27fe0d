/** Modules of ours are no fakes: each call asks those in bin/k6, which `make bin/k6` builds. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const K6 = fileURLToPath(new URL('../../bin/k6', import.meta.url));

/** @param {string} module @returns {(name: string) => (...asked: any[]) => any} by the name of an export */
export const asking =
  (module) =>
  (name) =>
  (...asked) => {
    const script = `import { ${name} } from '${module}';
export default () => {};
export const handleSummary = () => ({ stdout: JSON.stringify(${name}(...${JSON.stringify(asked)})) });`;
    return JSON.parse(
      execFileSync(K6, ['run', '--quiet', '--no-usage-report', '-'], { input: script, encoding: 'utf8' }),
    );
  };
