/** Stand-in for k6/x/windtunnel/silent: no unit test connects. */
export function join() {
  throw new Error('there is no network here');
}
