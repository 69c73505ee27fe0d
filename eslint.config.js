import js from '@eslint/js';
import globals from 'globals';

const k6Globals = {
  __ENV: 'readonly',
  __VU: 'readonly',
  __ITER: 'readonly',
  open: 'readonly',
  console: 'readonly',
  setTimeout: 'readonly',
  clearTimeout: 'readonly',
  setInterval: 'readonly',
  clearInterval: 'readonly',
};

export default [
  { ignores: ['**/node_modules/', 'sidecar/target/', 'results/', '.venv/', 'bin/', 'k6/'] },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-shadow': 'error',
      'consistent-return': 'error',
      complexity: ['error', 12],
      'max-lines': ['error', 400],
      'max-lines-per-function': ['error', { max: 90, skipBlankLines: true, skipComments: true }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  { files: ['lib/**', 'scripts/**', 'benchmarks/**'], languageOptions: { globals: k6Globals } },
  {
    files: ['tests/**', 'grafana/**', 'types/**', 'ci/**', '*.config.js'],
    languageOptions: { globals: globals.node },
  },
];
