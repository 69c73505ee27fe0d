/** k6/x/windtunnel/barrier of a run whose load runs alone. */
export const given = false;
export const meet = () => true;
