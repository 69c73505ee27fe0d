/** What k6 has as globals beyond @types/k6. https://grafana.com/docs/k6/latest/javascript-api/ */
declare const console: Record<'log' | 'debug' | 'info' | 'warn' | 'error', (...values: unknown[]) => void>;
