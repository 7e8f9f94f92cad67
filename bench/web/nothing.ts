// Stands in for what a page does not use.
export default {};
