/** Loaded with node --import: the module hooks, and the globals that k6 gives a script. */
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';

register('./k6-hooks.js', import.meta.url);

/** @type {any} */ (globalThis).__ENV = {};
/** @type {any} */ (globalThis).__VU = 0;
/** @type {any} */ (globalThis).open = (/** @type {string} */ path) =>
  readFileSync(path.startsWith('file:') ? fileURLToPath(path) : path, 'utf8');
