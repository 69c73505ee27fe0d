/** k6 as far as lib/ uses it. */
export function sleep() {}
