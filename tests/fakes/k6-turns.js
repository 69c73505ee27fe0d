/** k6/x/windtunnel/turns of a load that takes no turns. */
export const taken = false;
export const begin = () => {};
export const end = () => {};
