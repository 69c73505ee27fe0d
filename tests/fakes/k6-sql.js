/** k6/x/sql and its drivers: no unit test opens a database. */
export default {};
