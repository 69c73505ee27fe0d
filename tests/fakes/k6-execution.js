/** k6/execution as far as lib/ uses it; tests set what it shows. */
const execution = {
  instance: {
    get currentTestRunDuration() {
      return performance.now();
    },
  },
  scenario: { iterationInTest: 0, progress: 0 },
  test: { options: { tags: { testid: 'unit' } }, abort() {} },
  vu: { idInTest: 1, iterationInInstance: 0 },
};

export default execution;
