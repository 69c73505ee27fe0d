/** The system at rest, before the load and after it. */
import { envNumber } from './variables.js';

/** For so long its processes are watched each time, seconds; 0: not at all. */
export const restSeconds = () => envNumber('REST_S');
