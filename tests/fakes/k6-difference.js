/** k6/x/windtunnel/difference is no fake: each call asks the one in bin/k6, which `make bin/k6` builds. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const K6 = fileURLToPath(new URL('../../bin/k6', import.meta.url));

/** @param {string} name of an export @returns {(...asked: any[]) => any} */
const ask =
  (name) =>
  (...asked) => {
    const script = `import { ${name} } from 'k6/x/windtunnel/difference';
export default () => {};
export const handleSummary = () => ({ stdout: JSON.stringify(${name}(...${JSON.stringify(asked)})) });`;
    return JSON.parse(
      execFileSync(K6, ['run', '--quiet', '--no-usage-report', '-'], { input: script, encoding: 'utf8' }),
    );
  };

export const judge = ask('judge');
export const tellApart = ask('tellApart');
export const moreOften = ask('moreOften');
export const nextLook = ask('nextLook');
export const mostMinutes = ask('mostMinutes');
export const order = ask('order');
