/** k6/http: no unit test sends anything. */
export default {};
