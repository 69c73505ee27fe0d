/** The data plane's scenarios, through a pair of sing-box. */
import { test } from 'node:test';
import { startBench } from '../../support/bench.js';
import { assertDataplane } from '../../support/dataplane-smoke.js';
import { smokeRun } from '../../support/smoke-run.js';
import { undisturbed } from '../../support/timely.js';

const TESTBED = 'sing-box-pair';
let tries = 0;

test(
  'data plane: smoke passes on sing-box-pair',
  undisturbed(async () => {
    tries += 1;
    if (tries === 1) {
      assertDataplane((await smokeRun()).run, TESTBED);
      return;
    }
    const bench = startBench({ ONLY: 'dataplane', PROFILE: 'smoke', TESTBED });
    try {
      await bench.ended;
      assertDataplane(bench, TESTBED);
    } finally {
      bench.remove();
    }
  }),
);
