/**
 * Checks a value against the part of JSON Schema that the environment schema
 * uses, so that `k6 run` by itself refuses a malformed environment as
 * `k6 x validate` does. tests/unit holds both to the same examples.
 */

/** @typedef {Record<string, any>} Schema */

/** @param {unknown} value */
function typeOf(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/**
 * @param {unknown} value
 * @param {string | string[]} types
 */
function hasType(value, types) {
  const own = typeOf(value);
  return [types].flat().some((type) => type === own || (type === 'number' && own === 'integer'));
}

/** @param {string} path @param {string} key */
const join = (path, key) => (path ? `${path}.${key}` : key);

/**
 * @param {Schema} schema
 * @param {unknown} value
 * @param {string} path
 * @returns {string | undefined}
 */
function scalarProblem(schema, value, path) {
  const shown = JSON.stringify(value);
  const { type, enum: allowed, pattern } = schema;
  if (type && !hasType(value, type)) {
    return `${path || 'the file'}: ${typeOf(value)} given, ${[type].flat().join(' or ')} wanted`;
  }
  if ('const' in schema && value !== schema.const)
    return `${path}: ${shown} is not ${JSON.stringify(schema.const)}`;
  if (allowed && !allowed.includes(value)) return `${path}: ${shown} is not one of ${allowed.join(', ')}`;
  if (pattern && typeof value === 'string' && !new RegExp(pattern).test(value)) {
    return patternProblem(pattern, shown, path);
  }
  return typeof value === 'number' ? rangeProblem(schema, value, path) : undefined;
}

/** @param {string} pattern @param {string} shown @param {string} path */
function patternProblem(pattern, shown, path) {
  // What is there in place of a variable's name may be the secret itself.
  const secret = path.endsWith('_env');
  return secret
    ? `${path}: does not match ${pattern}; give the name of an environment variable, not what it holds`
    : `${path}: ${shown} does not match ${pattern}`;
}

/**
 * @param {Schema} schema
 * @param {number} value
 * @param {string} path
 */
function rangeProblem(schema, value, path) {
  const { exclusiveMinimum: above = -Infinity, minimum = -Infinity, maximum = Infinity } = schema;
  if (value <= above && above !== -Infinity) return `${path}: ${value} is not above ${above}`;
  if (value < minimum) return `${path}: ${value} is below ${minimum}`;
  return value > maximum ? `${path}: ${value} is above ${maximum}` : undefined;
}

/** @param {number} count @param {number | undefined} least @param {string} path */
const countProblem = (count, least, path) =>
  count < (least ?? 0) ? `${path}: has ${count} entries, needs at least ${least}` : undefined;

/**
 * @param {Schema} root
 * @param {Schema} schema
 * @param {unknown[]} value
 * @param {string} path
 * @returns {string | undefined}
 */
function arrayProblem(root, schema, value, path) {
  const few = countProblem(value.length, schema.minItems, path);
  if (few) return few;
  const texts = value.map((item) => JSON.stringify(item));
  const twice = schema.uniqueItems ? texts.find((text, index) => texts.indexOf(text) < index) : undefined;
  if (twice) return `${path}: ${twice} is there twice`;
  for (const [index, item] of value.entries()) {
    const found = schema.items && problem(root, schema.items, item, `${path}[${index}]`);
    if (found) return found;
  }
  return undefined;
}

/**
 * @param {Schema} root
 * @param {Schema} schema
 * @param {Record<string, unknown>} value
 * @param {string} path
 * @returns {string | undefined}
 */
function objectProblem(root, schema, value, path) {
  const known = schema.properties ?? {};
  const few = countProblem(Object.keys(value).length, schema.minProperties, path);
  if (few) return few;
  const missing = (schema.required ?? []).find((/** @type {string} */ key) => !(key in value));
  if (missing) return `${join(path, missing)}: missing`;
  for (const [key, item] of Object.entries(value)) {
    const inner = known[key] ?? schema.additionalProperties;
    if (inner === false) return `${join(path, key)}: unknown key; known are ${Object.keys(known).join(', ')}`;
    const found =
      inner && typeof inner === 'object' ? problem(root, inner, item, join(path, key)) : undefined;
    if (found) return found;
  }
  return undefined;
}

/**
 * @param {Schema} root
 * @param {Schema[]} branches
 * @param {unknown} value
 * @param {string} path
 * @returns {string | undefined}
 */
function oneOfProblem(root, branches, value, path) {
  const problems = branches.map((branch) => problem(root, branch, value, path));
  const fitting = problems.filter((found) => found === undefined).length;
  if (fitting === 1) return undefined;
  const keys = branches.flatMap((branch) => branch.required ?? []);
  if (branches.every((branch) => !branch.properties)) return `${path}: give either ${keys.join(' or ')}`;
  return problems.find((found) => found?.endsWith('missing')) ?? problems[0];
}

/**
 * The first problem of a value, as `path: what is wrong`; undefined where there is none.
 * @param {Schema} root the whole schema, for its $defs
 * @param {Schema} schema
 * @param {unknown} value
 * @param {string} [path]
 * @returns {string | undefined}
 */
export function problem(root, schema, value, path = '') {
  if (schema.$ref) return problem(root, root.$defs[schema.$ref.replace('#/$defs/', '')], value, path);
  const own = scalarProblem(schema, value, path);
  if (own) return own;
  const inner = Array.isArray(value)
    ? arrayProblem(root, schema, value, path)
    : typeOf(value) === 'object' &&
      objectProblem(root, schema, /** @type {Record<string, unknown>} */ (value), path);
  if (inner) return inner;
  return schema.oneOf && oneOfProblem(root, schema.oneOf, value, path);
}
