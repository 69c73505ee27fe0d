/** The system at rest, before the load and after it. */
const MOST_S = 10;

/** REST_S: for so long its processes are watched each time, seconds; 0: not at all. @returns {number} */
export function restSeconds() {
  const text = __ENV.REST_S || '0.25';
  const seconds = Number(text);
  if (seconds >= 0 && seconds <= MOST_S) return seconds;
  throw `REST_S=${text}: seconds from 0 to ${MOST_S} are wanted`;
}
